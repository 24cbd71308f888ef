import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { FaceEnv } from '../../shared/api/face.ts'
import type { Origins } from './origin.ts'

type Name = 'unit-guard' | 'unit-guard-said'

/** Cookies that no script reads, no other site sends along and, with https, no other host can set. */
export function createCookies({ isSecure }: Pick<Origins, 'isSecure'>) {
  const prefixed = (c: Context<FaceEnv>) => (isSecure(c) ? ({ prefix: 'host' } as const) : {})

  return {
    read: (c: Context<FaceEnv>, name: Name): string | undefined =>
      isSecure(c) ? getCookie(c, name, 'host') : getCookie(c, name),

    write: (c: Context<FaceEnv>, name: Name, value: string, lastsMs: number): void =>
      setCookie(c, name, value, {
        ...prefixed(c),
        path: '/',
        secure: isSecure(c),
        httpOnly: true,
        sameSite: 'Strict',
        maxAge: Math.floor(lastsMs / 1000),
      }),

    remove: (c: Context<FaceEnv>, name: Name): void =>
      setCookie(c, name, '', {
        ...prefixed(c),
        path: '/',
        secure: isSecure(c),
        httpOnly: true,
        sameSite: 'Strict',
        maxAge: 0,
      }),
  }
}

export type Cookies = ReturnType<typeof createCookies>
