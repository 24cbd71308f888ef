import { callerNamed } from '../../../../shared/ledger/book/definitions.ts'
import { Hidden, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callerAddress, callersAddress } from '../../components/parts.tsx'
import { isSlack } from './caller-texts.ts'
import type { CallerEdit } from './edit-form.tsx'

/** How a caller comes onto the list of callers, and off it. */

/** What taking them off the list does is not the same for everybody, so it is said. */
export const Unlisting = ({ of, frame }: { of: CallerEdit; frame: Frame }) => {
  const { sub, view } = of
  return (
    <details class="card">
      <summary>Take {sub} off the list</summary>
      <p class="note">
        {isSlack(sub)
          ? 'They may do nothing in Slack then.'
          : 'Their token alone says what they may do then: nothing that is set here narrows it any more.'}
      </p>
      {callerNamed(view.definitions, sub)?.disabled ? (
        <p class="warning">
          <span aria-hidden="true">⚠</span> They are disabled now. Off the list they are not:{' '}
          {isSlack(sub) ? 'whoever lists them again lets them in.' : 'a token of theirs works again.'}
        </p>
      ) : null}
      <form method="post" action={`${callersAddress}/delete`}>
        <FormToken of={frame} />
        <Hidden of={{ sub, revision: String(view.definitions.revision) }} />
        <ReasonField of="delete" required={false} />
        <p class="buttons">
          <button type="submit">Take {sub} off the list</button>
        </p>
      </form>
    </details>
  )
}

/** Where to name a caller who is not listed. */
export const ListForm = () => (
  <section aria-labelledby="list">
    <h2 id="list">List somebody</h2>
    <form method="get" action={callerAddress()}>
      <div class="fields">
        <TextField
          of="list"
          name="sub"
          label="Name"
          longest={200}
          note="The sub of a token, or slack: and a member ID, as slack:U02ADA."
          required
        />
      </div>
      <p class="buttons">
        <button type="submit">Go on</button>
      </p>
    </form>
  </section>
)
