/** Words by which people say that a value is none: in documentation, templates and tests. */
const placeholder =
  /example|placeholder|change[-_ ]?(?:me|this|it)|your[-_ ]|(?:^|[-_ ])(?:my|the|some)[-_ ]?(?:password|secret|token|key)|dummy|fake|sample|redacted|masked|hidden|removed|x{4,}|\*{3,}|\.{3}|…|•|foo|lorem|insert|replace|(?:^|[-_ ])(?:test|demo|mock|none|null|todo)(?:$|[-_ ])|12345678|abcdefg|0{8}|deadbeef|eyJzdWIiOiIxMjM0NTY3ODkw|hunter2$/i

/** The passwords that every tutorial uses, which tell a thief nothing. */
const tutorial =
  /^(?:pass(?:word|wd)?|pwd|secret|token|key|admin|root|user(?:name)?|postgres|mysql|mongo|redis|guest|test(?:ing)?|string|undefined|null|true|false|none|required|optional|hunter2|letmein|qwerty|[^a-z0-9]*)\d{0,4}[!?.]?$/i

/** What names a value instead of being one: a variable, a template, a member, a call, a type. */
const reference =
  /^(?:\$|%[a-z_]\w*%$|<|\{\{|\[|process\.|import\.|os\.|env\.|ENV\[|config\.|self\.|this\.|args\.|options\.|ctx\.)|\$\{|\{\{|<[a-z][\w -]*>|\(|\)$|=>/i

/** Whether a value stands for a secret rather than being one. */
export const isPlaceholder = (value: string): boolean =>
  tutorial.test(value) || placeholder.test(value) || reference.test(value) || new Set(value).size < 4

/** Whether a value is a UUID or a plain hash in hex (git object, SHA-256, MD5, an event's id), with its prefix or not. */
export const isHash = (value: string): boolean =>
  /^(?:(?:md5|sha\d{1,3})[-:=])?(?:[0-9a-f]{7,128}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i.test(value)

/** Shannon's entropy, bits a character. */
export const entropy = (value: string): number => {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** Whether a token was drawn by a machine rather than chosen as a name: letters and digits mixed, few repetitions. */
export const isRandom = (value: string): boolean =>
  value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value) && entropy(value) >= 3 && !isWords(value)

/** Words, numbers and dates joined by dashes, dots or slashes: a branch, a path, a model's name, an identifier. */
const isWords = (value: string): boolean =>
  value
    .split(/[-_./:\\@=+]|(?<=[a-z])(?=[A-Z])/)
    .every(
      (piece) =>
        /^(?:[A-Za-z]{0,16}\d{0,8}|\d{0,8}[A-Za-z]{0,3}|v?\d+)$/.test(piece) && !/^[A-Z]{12,}$/.test(piece),
    )
