import { isHash, isPlaceholder, isRandom } from './innocent.js'
import type { Secret } from './secret.js'

/** What names a password or a key, then what assigns. Bounded on both sides, so that its time is linear. */
const named =
  /(passw(?:or)?d|passphrase|passwd|pwd|secret|token|key|credentials?)[\w-]{0,24}\\{0,3}["'`]?\s{0,3}(?:=>|:=|[:=])\s{0,3}(?:(\\{0,3}["'`])([^\s"'`\\]{6,2048})\\{0,3}["'`]|([^\s"'`\\,;<>(){}|&[\]]{6,2048}))/gi

/** Names whose value is worth nothing to a thief, or says where something is. */
const harmless =
  /(?:cache|public|pub|primary|foreign|idempotency|partition|sort|object|storage|translation|i18n|page|next|continuation|sync|shard|group|row|hash|host|dedupe|event|map|config|react|lookup|ssh|gpg|signing)[_-]?(?:key|token)s?\d*$|(?:key|token|secret)s?[_-]?(?:id|ids|name|names|count|type|path|file|url|uri|usage|limit|length|size|hash|fingerprint|version|ref|arn|field|prefix|input|output|total|code|class|label|pattern|regex|at|in|ttl|expiry|expires?)$|(?:key|token)s$|[_-]?tokens[_-]?\w*$|keyword|keyboard|keyof|monkey|tokeni[sz]/i

/** Names that a value is secret under even when it is a plain number in hex. */
const strong =
  /passw(?:or)?d|passphrase|pwd|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|(?:auth|access|refresh|bearer|api|bot|session)[_-]?token/i

const wordBefore = /[\w.-]{0,60}$/

/**
 * Values that stand under a name which says that they are secret: `password: "…"`, `GITHUB_TOKEN=…`, a member of JSON,
 * also of JSON in a string. A password is any value that stands in quotes or is no word; a key must look random.
 */
export const namedIn = (text: string): Secret[] =>
  [...text.matchAll(named)].flatMap((match) => {
    const [all, keyword = '', quote, quoted, bare] = match
    const value = quoted ?? bare ?? ''
    const start = match.index + all.lastIndexOf(value)
    const word = nameAt(text, match.index, all)
    if (harmless.test(word) || isPlaceholder(value)) return []
    const isPassword = /^(?:pass|pwd)/i.test(keyword)
    const isSecret = isPassword ? isPasswordValue(value, quote !== undefined, all) : isKeyValue(word, value)
    return isSecret ? [{ start, end: start + value.length, kind: isPassword ? 'password' : 'secret' }] : []
  })

/** The whole name that is assigned to: what stands before the keyword too. */
const nameAt = (text: string, index: number, all: string): string => {
  const before = wordBefore.exec(text.slice(Math.max(0, index - 60), index))?.[0] ?? ''
  return before + (/^[\w-]+/.exec(all)?.[0] ?? '')
}

const isPasswordValue = (value: string, isQuoted: boolean, all: string): boolean => {
  if (/^[A-Za-z_]+$/.test(value) || /^[a-z]+(?:[.-][a-z]+)+$/i.test(value)) return false
  if (isQuoted) return !/^https?:|^[./~]|[/\\].*[/\\]/.test(value)
  // Without quotes it may be code, or a sentence about passwords: `password: something`.
  return /=\S/.test(all) && /\d|[^\w.]/.test(value) && !/[.:]$|^[./~]|^\d+$/.test(value)
}

const isKeyValue = (word: string, value: string): boolean => {
  const isLong = value.length > (strong.test(word) ? 2048 : 512)
  if (isLong || /^https?:|^[./~]|\.\w{1,5}$/.test(value)) return false
  return isHash(value) ? strong.test(word) && value.length >= 16 : isRandom(value)
}
