/** How the text behind `/units` is cut into words. */

interface Word {
  readonly text: string
  /** It began with a quote, so it is a name and no keyword, whatever it says. */
  readonly isQuoted: boolean
}

export interface Words {
  /** The next word; `null` at the end, or when its quote is never closed. */
  next(): Word | null
  /** Everything that is left, as it was typed. */
  rest(): string
  isUnclosed(): boolean
}

/**
 * Words are separated by white space; quotes, straight or curly, keep white space in. Slack's clients turn straight
 * quotes into curly ones as one types, sometimes only one of a pair, so any quote closes any other.
 */
export function readWords(text: string): Words {
  let position = 0
  let unclosed = false
  return {
    next() {
      position += text.slice(position).search(/\S|$/)
      if (position === text.length || unclosed) return null
      const isQuoted = isQuote(text.charAt(position))
      let word = ''
      let isInside = false
      for (; position < text.length; position++) {
        const character = text.charAt(position)
        if (isQuote(character)) isInside = !isInside
        else if (!isInside && /\s/.test(character)) break
        else word += character
      }
      unclosed = isInside
      return unclosed ? null : { text: word, isQuoted }
    },
    rest() {
      const rest = text.slice(position).trim()
      position = text.length
      return rest
    },
    isUnclosed: () => unclosed,
  }
}

const isQuote = (character: string): boolean => /["“”„]/.test(character)

/**
 * What the user typed, from what Slack sends: `&`, `<` and `>` come as `&amp;`, `&lt;` and `&gt;`, so any other `<…>`
 * is Slack's own mark for a link or a mention, of which the label is what was typed.
 *
 * @see https://docs.slack.dev/messaging/formatting-message-text
 * @see https://docs.slack.dev/interactivity/implementing-slash-commands
 */
export function asTyped(text: string): string {
  const withoutMarks = text.replace(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_mark, inside: string, label?: string) =>
    label ? label : inside,
  )
  return withoutMarks.replace(/&(amp|lt|gt);/g, (_entity, name: string) => characters[name] ?? '')
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' }
