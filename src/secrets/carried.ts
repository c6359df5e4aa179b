import { isHash, isPlaceholder, isRandom } from './innocent.js'
import type { Secret } from './secret.js'

/** Headers that prove who asks: `Authorization: Bearer …`, `x-api-key: …`, as text, in JSON, in a command line. */
const header =
  /(?:authorization|x-api-key|api-key|x-goog-api-key|x-auth-token|private-token|x-access-token)\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?(?:(?:bearer|basic|token|apikey)\s{1,3})?([\w.~+/=-]{8,4096})/gi

const bearer = /\bbearer\s{1,3}([\w.~+/=-]{16,4096})/gi

/** The password of a URL: `postgres://user:password@host`, `https://user:token@host`. */
const url = /\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s:/@"'`<>\\]{0,128}):([^\s@/"'`<>\\]{3,256})@[\w.[\]$%{-]/gi

const registry = /_(?:authToken|auth|password)\s{0,2}=\s{0,2}["']?([\w+/=.-]{8,1024})/g

const group = (kind: string, text: string, pattern: RegExp, isSecret: (value: string) => boolean): Secret[] =>
  [...text.matchAll(pattern)].flatMap((match) => {
    const value = match.at(-1) ?? ''
    const start = match.index + match[0].lastIndexOf(value)
    return isSecret(value) && !isPlaceholder(value) ? [{ start, end: start + value.length, kind }] : []
  })

const isCredential = (value: string): boolean =>
  isHash(value) || isRandom(value) || /^[A-Za-z0-9+/]{14,}={1,2}$/.test(value)

/** Secrets that something carries: headers, URLs, the configuration of a package registry. */
export const carriedIn = (text: string): Secret[] => [
  ...group('authorization', text, header, isCredential),
  ...group('authorization', text, bearer, isCredential),
  ...group('npm-token', text, registry, isCredential),
  ...group('url-password', text, url, () => true).filter(({ start, end }) => !isUserAgain(text, start, end)),
]

/** `postgres:postgres@` is what every container says by default. */
const isUserAgain = (text: string, start: number, end: number): boolean => {
  const password = text.slice(start, end)
  return text.slice(start - 1 - password.length, start - 1) === password
}
