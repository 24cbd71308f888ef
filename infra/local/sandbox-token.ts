const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * The token that the sandbox takes unless told otherwise. It opens nothing but a sandbox on this machine, so it may be
 * known; it looks like a real one (a JWT that states when it ends), so that everything that reads one is exercised.
 */
export const sandboxToken = [
  segment({ alg: 'none' }),
  segment({ sub: 'sandbox', exp: Date.UTC(2099, 11, 31) / 1000 }),
  'only-for-the-sandbox',
].join('.')
