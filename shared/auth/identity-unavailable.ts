/** Nothing was sent: without the issuer's keys its tokens cannot be verified. */
export class IdentityUnavailable extends Error {
  override readonly name = 'IdentityUnavailable'
  constructor(
    readonly issuer: string,
    cause?: unknown,
  ) {
    super(`the keys of the issuer ${issuer} are not known`, { cause })
  }
}
