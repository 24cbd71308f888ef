/** The issuer's keys are unknown, so its tokens cannot be verified. Nothing was sent. */
export class IdentityUnavailable extends Error {
  override readonly name = 'IdentityUnavailable'
  constructor(
    readonly issuer: string,
    cause?: unknown,
  ) {
    super(`the keys of the issuer ${issuer} are not known`, { cause })
  }
}
