import { context, type Message, message, section, toAsker } from '../blocks.ts'

/** @param url of ours, with a code that lets in whoever opens it: it stands in no notification. */
export const loginMessage = (url: string): Message =>
  message(
    'Your link to the dashboard is here. It works once, within five minutes.',
    [
      section(`<${url}|Open the dashboard>`),
      context('This link lets in whoever opens it: it works once, within five minutes. Ask for as many as you like.'),
    ],
    toAsker,
  )
