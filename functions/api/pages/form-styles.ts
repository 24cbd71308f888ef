/** Forms in which something is set, what is shown before it is confirmed, and the tree of budgets. */
export const formStyles = `
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .75rem 1.25rem; margin: .75rem 0 0; }
.field.whole { grid-column: 1 / -1; }
.ticks { border: 0; margin: 0; padding: 0; }
.ticks.whole { grid-column: 1 / -1; }
.ticks legend { padding: 0; font-size: .9rem; }
.ticks .tick { margin: .25rem 0; }
.sheet h2 + .field { margin-top: .75rem; }
main > .warning, main > .failed { margin-bottom: 1.25rem; }
.field .note { margin: .2rem 0 0; }
textarea {
  font: inherit; width: 100%; padding: .4rem .6rem; border-radius: 6px; resize: vertical;
  border: 1px solid var(--quiet); background: var(--surface); color: var(--ink);
}
a.button {
  display: inline-flex; align-items: center; min-height: 2.75rem; padding: .5rem 1rem; border-radius: 6px;
  border: 1px solid var(--accent); background: var(--surface); text-decoration: none;
}
a.button:hover { background: var(--soft); }
.failed { border-left: 4px solid var(--bad); background: var(--bad-ground); padding: .5rem .75rem; border-radius: 4px; }
.card {
  background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; margin: 0 0 1.25rem;
}
.card summary { cursor: pointer; color: var(--accent); }
.sheet > section {
  background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; margin: 0 0 1.25rem;
}
.chain ol { display: flex; flex-wrap: wrap; gap: .25rem .5rem; list-style: none; margin: -.5rem 0 1rem; padding: 0; }
.chain li + li::before { content: "›"; color: var(--quiet); margin-right: .5rem; }
.month + .day { margin-top: 1rem; }
.in-tree { margin: 0; }
th.in-tree { min-width: 18rem; }
.in-tree.depth-0 a { font-weight: 600; }
.in-tree.depth-1 { padding-left: 2.25rem; } .in-tree.depth-2 { padding-left: 3.5rem; }
.in-tree.depth-3 { padding-left: 4.75rem; } .in-tree.depth-4 { padding-left: 6rem; }
.in-tree.depth-5 { padding-left: 7.25rem; } .in-tree.depth-6 { padding-left: 8.5rem; } .in-tree.depth-7 { padding-left: 9.75rem; }
.tree .number .note { display: inline; }
.none { color: var(--bad); }
.effect tr.below { background: var(--bad-ground); }
.effect th .note { display: inline; }
.differences { margin: .5rem 0; }
.differences div { display: grid; grid-template-columns: minmax(9rem, 18rem) 1fr; gap: 0 1rem; padding: .35rem 0; border-top: 1px solid var(--line); }
.differences dt { color: var(--quiet); }
.differences dd { margin: 0; }
.entries, .projects { list-style: none; margin: .5rem 0 0; padding: 0; }
.entries li { border-top: 1px solid var(--line); padding: .6rem 0; }
.entries p { margin: 0; }
.projects { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: .4rem 1.25rem; }
form .projects { max-height: 24rem; overflow-y: auto; }
.projects li { display: flex; gap: .6rem; align-items: flex-start; padding: .25rem; }
.projects label { margin: 0; font-size: 1rem; }
.projects li > * { min-width: 0; }
.projects li > input { flex: none; }
@media (max-width: 42rem) {
  .card, .sheet > section { padding: .9rem; }
  .fields { grid-template-columns: 1fr; }
  .differences div { grid-template-columns: 1fr; }
  .tree, .tree tbody, .tree caption, .effect, .effect tbody, .effect caption { display: block; }
  .tree thead, .effect thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .tree tr, .effect tr { display: grid; grid-template-columns: 1fr 1fr; gap: .25rem .75rem; padding: .75rem .9rem; border-top: 1px solid var(--line); }
  .tree th, .tree td, .effect th, .effect td { display: block; padding: 0; border: 0; text-align: left; white-space: normal; }
  .tree th, .effect th { grid-column: 1 / -1; font-size: 1.05rem; }
  .tree td::before, .effect td::before { content: attr(data-name); display: block; color: var(--quiet); font-size: .8rem; }
  .in-tree.depth-1 { padding-left: .75rem; } .in-tree.depth-2 { padding-left: 1.5rem; }
  .in-tree.depth-3 { padding-left: 2.25rem; } .in-tree.depth-4 { padding-left: 3rem; }
  .in-tree.depth-5 { padding-left: 3.75rem; } .in-tree.depth-6 { padding-left: 4.5rem; } .in-tree.depth-7 { padding-left: 5.25rem; }
  .tree td.nothing { display: none; }
}
`
