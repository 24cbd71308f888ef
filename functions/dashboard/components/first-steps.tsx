/** What to do while there is nothing to look at. */
export const FirstSteps = () => (
  <section class="first" aria-labelledby="first">
    <h2 id="first">What to do first</h2>
    <p>
      Nothing has been spent yet, and there is no budget but the account’s own. In a terminal, after{' '}
      <code>source .local/env</code>, or with an address and a token of yours:
    </p>
    <ol>
      <li>
        <p>
          Make a budget, here of 2,000 units a month; or with the form under <a href="/dashboard/budgets">Budgets</a>:
        </p>
        <pre>
          <code>{makeBudget}</code>
        </pre>
      </li>
      <li>
        <p>Ask for an update, which is charged to it:</p>
        <pre>
          <code>{askForUpdate('"budget": "acme", ')}</code>
        </pre>
      </li>
    </ol>
    <p>What it cost, and what is left, is here then.</p>
  </section>
)

const makeBudget = `curl -X PUT "$UNIT_GUARD_URL/budgets/acme" \\
  -H "Authorization: Bearer $UNIT_GUARD_TOKEN" -H "Content-Type: application/json" \\
  -d '{"limits": [{"window": "month", "units": 2000}]}'`

/** @param more members that come before the reason. */
export const askForUpdate = (more = ''): string => `curl -X POST "$UNIT_GUARD_URL/updates" \\
  -H "Authorization: Bearer $UNIT_GUARD_TOKEN" -H "Content-Type: application/json" \\
  -d '{"kind": "ranking", "project": "acme.example", ${more}"reason": "monthly report"}'`
