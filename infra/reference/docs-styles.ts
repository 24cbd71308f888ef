/** What the page needs beside the dashboard's stylesheet, whose colours it takes. */
export const docsStyles = `
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0; padding: 0; }
main > section > h2 { margin-bottom: .5rem; }
article { border-top: 1px solid var(--line); padding: 1.25rem 0 .75rem; }
article h3 { font-size: 1rem; overflow-wrap: anywhere; }
article h3 a { color: inherit; text-decoration: none; }
article h3 a:hover { text-decoration: underline; }
.method { display: inline-block; min-width: 4.2rem; margin-right: .5rem; padding: .1rem .4rem; border-radius: 4px; text-align: center;
  background: var(--soft); color: var(--accent); font-weight: 700; font-size: .85rem; }
.inputs { margin: .5rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0; }
.inputs > div { display: grid; grid-template-columns: 11rem 1fr; gap: 0 1rem; padding: .45rem .9rem; border-top: 1px solid var(--line); }
.inputs > div:first-child { border-top: 0; }
.inputs dt { overflow-wrap: anywhere; }
.inputs dd { margin: 0; }
.inputs .note { display: block; }
.answers { list-style: none; margin: .5rem 0; padding: 0; }
.answers strong { display: inline-block; min-width: 3.5rem; }
@media (max-width: 42rem) { .inputs > div { grid-template-columns: 1fr; } }
`
