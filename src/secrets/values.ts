/** Members whose text is a provider's or a hash: opaque to us, sent back unchanged, and no secret of the user's. */
const opaque =
  /^(?:signature|thoughtSignature|thought_signature|encrypted_content|encryptedContent|reasoning_opaque|\$blob|sha256|integrity|id|uuid|parent|parentUuid|toolCallId|tool_call_id|tool_use_id|call_id|sessionId|session_id|timestamp|at)$/

type Members = Readonly<Record<string, unknown>>

const isMedia = (members: Members): boolean =>
  ['media', 'media_type', 'mimeType', 'mediaType', 'mime', 'mime_type'].some(
    (name) => typeof members[name] === 'string' && !/^text\/|json|xml/.test(members[name]),
  ) || members.type === 'redacted_thinking'

const isOpaque = (members: Members, name: string): boolean =>
  opaque.test(name) || (name === 'data' && isMedia(members))

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null

/**
 * What a name lends to a text: `{"password":"…"}` is told by its name alone. The name goes before the text as JSON would
 * write it, so that what finds `"password":"…"` in text finds it here.
 */
const withName = (name: string, text: string): string => `"${name}":"${text}"`

const telling = /passw|pwd|passphrase|secret|token|key|credential|authorization/i

/** Every text of a value that may hold a secret, as it has to be looked through. */
export function* textsOf(value: unknown, name = ''): Generator<string> {
  if (typeof value === 'string') yield telling.test(name) ? withName(name, value) : value
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item, name)
  else if (isMembers(value))
    for (const [member, inner] of Object.entries(value))
      if (!isOpaque(value, member)) yield* textsOf(inner, member)
}

/** The value with each of those texts replaced. */
export const redactedValue = (value: unknown, replaced: (text: string) => string, name = ''): unknown => {
  if (typeof value === 'string') {
    if (!telling.test(name)) return replaced(value)
    const full = replaced(withName(name, value))
    return full.slice(name.length + 4, -1)
  }
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, replaced, name))
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      isOpaque(value, member) ? inner : redactedValue(inner, replaced, member),
    ]),
  )
}
