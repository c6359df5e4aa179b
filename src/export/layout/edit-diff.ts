import { structuredPatch } from 'diff'

/** Lines that differ at most before two texts are told whole, one removed and one added. */
const maxEdit = 1000
const context = 3

/** The difference of two texts as a unified diff without file names. */
export const diffOfTexts = (before: string, after: string): string => {
  const options = { context, maxEditLength: maxEdit }
  const patch = structuredPatch('', '', ended(before), ended(after), undefined, undefined, options)
  if (patch === undefined) return [...signed('-', before), ...signed('+', after)].join('\n')
  return patch.hunks
    .flatMap(({ lines }, at) => [...(at > 0 ? ['@@'] : []), ...lines])
    .filter((line) => !line.startsWith('\\'))
    .join('\n')
}

/** A last line without an end would be told as one that differs. */
const ended = (text: string): string => (text === '' ? '' : `${text}\n`)

const signed = (sign: string, text: string): readonly string[] =>
  text === '' ? [] : text.split('\n').map((line) => sign + line)

/** Whether a text is a diff that someone would want to see as one. */
export const isDiff = (text: string): boolean =>
  /^(diff --git |Index: |\*\*\* Begin Patch)/.test(text) ||
  /^--- .*\n\+\+\+ .*\n@@/.test(text) ||
  /^diff --git .*\n/m.test(text.slice(0, 2000))
