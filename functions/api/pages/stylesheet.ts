/** How all pages look: light or dark as the reader's machine is, and on a phone as on a screen. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: #f4f6f9; --surface: #ffffff; --ink: #17202b; --quiet: #4d5968; --line: #d3d9e2; --soft: #e9edf3;
  --accent: #1d4f91; --on-accent: #ffffff; --focus: #b3470b;
  --good: #17653a; --bad: #a3201a; --wary: #8a5300; --wary-ground: #fff4dc; --bad-ground: #fdecea; --good-ground: #e7f5ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f141b; --surface: #18202a; --ink: #e7ecf3; --quiet: #a7b3c2; --line: #344052; --soft: #222c39;
    --accent: #8fbcff; --on-accent: #0b1726; --focus: #ffb070;
    --good: #7fd6a2; --bad: #ff9c94; --wary: #f3c268; --wary-ground: #33290f; --bad-ground: #3a1b1a; --good-ground: #143021;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 0; }
h3 { font-size: 1.05rem; margin: 0; }
p { margin: .5rem 0; }
a { color: var(--accent); text-underline-offset: .15em; }
a:hover { text-decoration-thickness: .14em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
pre {
  background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: .5rem 0;
  white-space: pre-wrap; user-select: all;
}
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: .5rem; top: -4rem; background: var(--surface); padding: .5rem 1rem; z-index: 1; }
.skip:focus { top: .5rem; }
.note { color: var(--quiet); font-size: .9rem; }
.unknown { color: var(--quiet); }
.top {
  display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem max(1rem, calc(50vw - 33rem));
  background: var(--surface); border-bottom: 1px solid var(--line);
}
.brand { font-weight: 700; margin: 0; }
.top nav ul { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; margin: 0; padding: 0; }
.top nav a { display: block; padding: .5rem; border-radius: 6px; color: var(--ink); text-decoration: none; white-space: nowrap; }
.top nav a:hover { background: var(--soft); }
.top nav a[aria-current] { background: var(--soft); font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
.who { display: flex; align-items: center; gap: .75rem; margin-left: auto; }
.who .name { color: var(--quiet); }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
main > section, .budget, .empty, .filters, .wide, .login, .ways {
  background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; margin: 0 0 1.25rem;
}
main > section[aria-labelledby="budgets"] { background: none; border: 0; padding: 0; }
section > .empty { border: 0; padding: 0; margin: .5rem 0 0; }
.title { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1rem; }
.title p { margin: 0; }
.title .name { font-weight: 600; }
.left strong { font-size: 1.25rem; }
.left.none, .left.none strong { color: var(--bad); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .6rem 1.25rem; margin: .75rem 0 0; }
.facts.long { grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); }
.facts dt { color: var(--quiet); font-size: .85rem; }
.facts dd { margin: 0; }
button, .top button {
  font: inherit; cursor: pointer; padding: .5rem 1rem; min-height: 2.75rem; border-radius: 6px;
  border: 1px solid var(--accent); background: var(--surface); color: var(--accent);
}
button:hover { background: var(--soft); }
button.primary { background: var(--accent); color: var(--on-accent); font-weight: 600; }
button.primary:hover { text-decoration: underline; }
button.plain { border-color: var(--line); color: var(--ink); min-height: 2.25rem; padding: .25rem .75rem; }
label { display: block; font-size: .9rem; margin: 0 0 .25rem; }
input:not([type="checkbox"]), select {
  font: inherit; width: 100%; min-height: 2.75rem; padding: .4rem .6rem; border-radius: 6px;
  border: 1px solid var(--quiet); background: var(--surface); color: var(--ink);
}
input[type="checkbox"] { width: 1.4rem; height: 1.4rem; margin: .15rem 0 0; accent-color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: .75rem 0 0; }
.login, .ways { max-width: 36rem; }
.login button { margin-top: .75rem; }
.outcome p, .waiting, .frozen, .warning, .problem, .failed {
  border-left: 4px solid var(--wary); background: var(--wary-ground); padding: .5rem .75rem; border-radius: 4px; margin: .5rem 0;
}
.outcome { margin: 0 0 1.25rem; }
.outcome .done { border-color: var(--good); background: var(--good-ground); }
.outcome .failed, .login .failed, .problem { border-color: var(--bad); background: var(--bad-ground); }
.frozen { border-color: var(--accent); background: var(--soft); }
.waiting { margin: 0 0 1.25rem; }
.budgets, .waiting-list { list-style: none; margin: .75rem 0 0; padding: 0; }
.depth-2 { margin-left: 1.5rem; } .depth-3 { margin-left: 3rem; } .depth-4 { margin-left: 4.5rem; }
.depth-5, .depth-6, .depth-7, .depth-8 { margin-left: 6rem; }
.day { border-top: 1px solid var(--line); margin-top: .75rem; padding-top: .5rem; }
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .25rem 1rem; align-items: end; }
.filters p { margin: .25rem 0; }
.filters .whole { grid-column: 1 / -1; }
.differs { color: var(--bad); }
tfoot th, tfoot td { border-top: 2px solid var(--line); font-weight: 600; }
.stopped { color: var(--wary); }
.tick { display: flex; gap: .75rem; align-items: center; }
.tick input { flex: none; }
.tick label { margin: 0; font-size: 1rem; }
.lines { list-style: none; margin: .5rem 0; padding: 0; }
.lines li { padding: .35rem 0; border-top: 1px solid var(--line); }
.calendar { table-layout: fixed; min-width: 46rem; }
.calendar th, .calendar td { padding: .5rem .6rem; border-left: 1px solid var(--line); }
.calendar :is(th, td):first-child { border-left: 0; }
.calendar td { height: 5rem; font-size: .9rem; }
.calendar p { margin: 0; }
.calendar .date { font-weight: 600; }
.calendar .weekday { display: none; }
.calendar .quiet .date { font-weight: 400; color: var(--quiet); }
.calendar .passed { background: var(--ground); }
.calendar ul { list-style: none; margin: .25rem 0; padding: 0; }
.calendar li { margin: 0 0 .25rem; }
.calendar .note, .calendar .cost { display: block; }
.calendar .date .note { display: inline; }
.calendar .sum { border-top: 1px solid var(--line); font-weight: 600; }
.calendar .reset { color: var(--good); }
.calendar .out { color: var(--bad); }
details { margin: .75rem 0 0; }
summary { cursor: pointer; padding: .35rem 0; color: var(--accent); }
.scroll { overflow-x: auto; }
.wide { padding: 0; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--quiet); font-size: .9rem; padding: .75rem 1rem; }
th, td { text-align: left; vertical-align: top; padding: .6rem 1rem; border-top: 1px solid var(--line); font-weight: 400; }
th[scope="row"] { min-width: 9rem; }
td:is([data-name="By"], [data-name="Budget"], [data-name="Caller"]) { min-width: 6.5rem; }
td[data-name="Reason"] { min-width: 14rem; }
thead th { color: var(--quiet); font-size: .85rem; white-space: nowrap; }
time, .id { white-space: nowrap; }
tbody .note { display: block; }
.number { text-align: right; white-space: nowrap; }
.state { white-space: nowrap; font-weight: 600; }
.state.settled { color: var(--good); }
.state.in-doubt, .state.awaiting-approval { color: var(--wary); }
.state.refused, .state.rejected, .state.expired { color: var(--bad); }
.state.requested, .state.running { color: var(--accent); }
.pages { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 0 0 1rem; }
.headline { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; margin: 0; }
.headline code { color: var(--quiet); }
.history { list-style: none; margin: .75rem 0 0; padding: 0; }
.history li { border-left: 3px solid var(--line); padding: 0 0 .75rem 1rem; }
.history li:last-child { padding-bottom: 0; }
.history p { margin: 0; }
.waiting-list > li { display: flex; gap: .9rem; padding: .9rem 0; border-top: 1px solid var(--line); }
.waiting-list > li > div { min-width: 0; flex: 1; }
.waiting-list p { margin: 0 0 .25rem; }
.waiting-list .what { font-weight: 600; }
.no-box { width: 1.4rem; flex: none; }
.evidence { margin: .25rem 0 0; padding-left: 1.2rem; color: var(--quiet); font-size: .9rem; }
.together { border-top: 1px solid var(--line); padding-top: .75rem; }
@media (max-width: 64rem) { th, td { padding: .5rem; } }
@media (max-width: 42rem) {
  main { padding: 1rem .75rem 2rem; }
  main > section, .budget, .empty, .filters { padding: .9rem; }
  .top nav a { padding: .5rem .6rem; }
  .who { margin-left: 0; width: 100%; justify-content: space-between; }
  .depth-2 { margin-left: .75rem; } .depth-3 { margin-left: 1.5rem; }
  .depth-4, .depth-5, .depth-6, .depth-7, .depth-8 { margin-left: 2.25rem; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(6.2rem, 1fr)); gap: .4rem .75rem; }
  .facts.long { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); }
  .filters { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); }
  .filters p:first-of-type { grid-column: 1 / -1; }
  .rows, .rows tbody, .rows tfoot, .rows caption { display: block; }
  .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .rows tr { display: grid; grid-template-columns: 1fr 1fr; gap: .25rem .75rem; padding: .75rem .9rem; border-top: 1px solid var(--line); }
  .rows th, .rows td { display: block; padding: 0; border: 0; text-align: left; white-space: normal; }
  .rows th { grid-column: 1 / -1; grid-row: 1; font-size: 1.05rem; }
  .calendar, .calendar tbody, .calendar tr, .calendar caption { display: block; min-width: 0; }
  .calendar thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .calendar td { display: block; height: auto; border-left: 0; padding: .6rem .9rem; }
  .calendar .weekday, .calendar .note, .calendar .cost { display: inline; }
  .calendar .passed, .calendar .quiet { display: none; }
  .rows td:last-child:nth-child(even) { grid-column: 1 / -1; }
  .rows .state { white-space: normal; }
  .rows td::before { content: attr(data-name); display: block; color: var(--quiet); font-size: .8rem; }
}
@media print {
  :root { font-size: 75%; }
  nav, .pages, button, .filters, .buttons, .skip { display: none; }
  .id { white-space: normal; }
  tr, li, .wide caption { break-inside: avoid; }
}
@media (prefers-contrast: more) { :root { --quiet: var(--ink); --line: var(--ink); } }
`
