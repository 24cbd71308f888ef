/** A sentence, in which what stands between backticks is code. */
export const Prose = ({ of }: { of: string }) => (
  <>{of.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)
