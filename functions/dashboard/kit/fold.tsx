import type { Child } from 'hono/jsx'
import type { Frame } from './layout.tsx'

interface FoldProps {
  /** Links to this id open the fold, so the id is inside it. */
  readonly id: string
  /** A verb and its object. */
  readonly title: string
  readonly isOpen?: boolean
  readonly children: Child
}

/** A form that is closed until a fault, a link or the user opens it. Only one is open, so a page has one primary button. */
export const Fold = ({ id, title, isOpen = false, children }: FoldProps) => (
  <details name="form" open={isOpen}>
    <summary>{title}</summary>
    <div id={id} class="folded">
      {children}
    </div>
  </details>
)

export const FoldedSection = (fold: FoldProps) => (
  <section aria-label={fold.title} class="fold-section">
    <Fold {...fold} />
  </section>
)

/** Whether the page shows the input of this field again, because its form did nothing. */
export const isRefilled = ({ flash }: Pick<Frame, 'flash'>, field: string): boolean =>
  Object.hasOwn(flash?.input ?? {}, field)
