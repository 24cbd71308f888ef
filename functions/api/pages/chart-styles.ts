/** What is drawn. Parts differ in lightness and pattern, too, for whoever does not see their colours. */
export const chartStyles = `
:root {
  --spent: #1d4f91; --held-ground: #ffd98a; --held-mark: #a86400; --doubt-ground: #ffffff; --doubt-mark: #b3261e;
  --committed-ground: #dbe7f6; --committed-mark: #6f98cc; --room: #e4e8ef; --pace: #17202b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --spent: #6fa8f5; --held-ground: #5a430f; --held-mark: #f5bd55; --doubt-ground: #2a1514; --doubt-mark: #ff8f86;
    --committed-ground: #1f3048; --committed-mark: #5d86bd; --room: #2a3442; --pace: #ffffff;
  }
}
.patterns { position: absolute; width: 0; height: 0; }
.spent { fill: var(--spent); }
.held-ground { fill: var(--held-ground); } .held-mark { fill: var(--held-mark); }
.in-doubt-ground { fill: var(--doubt-ground); } .in-doubt-mark { fill: var(--doubt-mark); }
.committed-ground { fill: var(--committed-ground); } .committed-mark { fill: var(--committed-mark); }
.bar { display: block; width: 100%; height: 32px; margin: .4rem 0 0; overflow: visible; }
.bar .room { fill: var(--room); }
.pace { stroke: var(--pace); stroke-width: 2px; }
.limit { stroke: var(--bad); stroke-width: 3px; }
.swatch { width: .9rem; height: .9rem; vertical-align: -.1rem; border: 1px solid var(--line); border-radius: 3px; }
.swatch .pace { stroke-width: 2px; }
figure { margin: .75rem 0 0; }
figcaption { color: var(--quiet); font-size: .9rem; margin: .4rem 0 0; }
.key { display: inline-block; margin-right: .75rem; }
.stroke { width: 1.8rem; height: .8rem; vertical-align: -.1rem; }
.plot {
  display: grid; grid-template: "scale chart chart" 13rem ". from to" auto / auto 1fr 1fr; gap: .2rem .5rem;
  color: var(--quiet); font-size: .85rem;
}
.scale { grid-area: scale; line-height: 1; }
.from { grid-area: from; }
.to { grid-area: to; text-align: right; }
.burn-down { grid-area: chart; width: 100%; height: 100%; overflow: visible; }
.burn-down.small { grid-area: auto; height: 7rem; }
.burn-down path { fill: none; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.burn-down .used-up { fill: var(--committed-ground); opacity: .55; }
.burn-down .grid { stroke: var(--soft); stroke-width: 1px; }
.burn-down .zero { stroke: var(--quiet); stroke-width: 1px; }
.burn-down .now { stroke: var(--line); stroke-width: 1px; }
.even { stroke: var(--quiet); stroke-width: 1.5px; stroke-dasharray: 2 5; }
.beside { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 0 1.5rem; align-items: center; }
.so-far { stroke: var(--spent); stroke-width: 3px; }
.foreseen { stroke: var(--spent); stroke-width: 2px; stroke-dasharray: 8 5; }
.point { fill: var(--spent); stroke: var(--surface); stroke-width: 2px; }
.burn-down text {
  fill: var(--ink); font-size: .95rem; font-weight: 600; paint-order: stroke; stroke: var(--surface); stroke-width: 4px;
}
@media (max-width: 42rem) {
  .beside { display: block; }
  .burn-down.small { height: 5rem; margin-top: .5rem; }
}
`
