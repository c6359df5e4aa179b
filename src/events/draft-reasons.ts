import type * as t from 'io-ts'
import { BlobRef } from './content.js'

/** What a codec is, as far as the words for it need to know. */
type Tag = { readonly _tag?: string; readonly value?: unknown }

/** One step down into the value: a member of it, or the same value seen by a part of a union or intersection. */
interface Step {
  readonly key: string
  readonly type: t.Decoder<unknown, unknown>
  readonly isMember: boolean
}

/** The most reasons that are told at once. */
const most = 5

/** What is wrong with a payload, in words that name each member and what it should be; once each. */
export const reasonsOf = (errors: t.Errors): readonly string[] =>
  [...new Set(reasonsFrom(errors.map(stepsOf), 0))].slice(0, most)

const stepsOf = ({ context }: t.ValidationError): readonly Step[] =>
  context.map(({ key, type }, i) => {
    const above = tagOf(context[i - 1]?.type)
    return { key, type, isMember: i > 0 && above !== 'UnionType' && above !== 'IntersectionType' }
  })

const tagOf = (type: unknown): string | undefined => (type as Tag | undefined)?._tag

/** Errors that share their steps up to `from`: those below one union are one reason, or those of the part that was meant. */
const reasonsFrom = (all: readonly (readonly Step[])[], from: number): readonly string[] => {
  const reasons: string[] = []
  const byUnion = new Map<string, { readonly at: number; readonly errors: (readonly Step[])[] }>()
  for (const steps of all) {
    const at = steps.findIndex(
      ({ type }, i) => i >= from && i < steps.length - 1 && tagOf(type) === 'UnionType',
    )
    if (at < 0) {
      reasons.push(reasonAt(steps, steps.length - 1))
      continue
    }
    const path = pathOf(steps, at)
    const held = byUnion.get(path)
    if (held === undefined) byUnion.set(path, { at, errors: [steps] })
    else held.errors.push(steps)
  }
  for (const { at, errors } of byUnion.values()) {
    const meant = meantOf(errors, at)
    const [first = []] = errors
    if (meant === null) reasons.push(reasonAt(first, at))
    else reasons.push(...reasonsFrom(meant.errors, meant.from))
  }
  return reasons
}

/**
 * The errors of the one part of a union that fits the value's own shape, so that what is wrong lies deeper; null where no
 * part does, or several. A part that names another `type` than the value was not meant, and nobody means a blob.
 */
const meantOf = (
  errors: readonly (readonly Step[])[],
  at: number,
): { readonly errors: readonly (readonly Step[])[]; readonly from: number } | null => {
  const parts = new Map<string, (readonly Step[])[]>()
  for (const steps of errors) {
    const below = steps.findIndex(({ isMember }, i) => i > at && isMember)
    const end = below < 0 ? steps.length : below
    const part = steps.slice(at + 1, end).filter((_, i) => tagOf(steps[at + i]?.type) === 'UnionType')
    const name = part.map(({ key }) => key).join('.')
    parts.set(name, [...(parts.get(name) ?? []), steps])
  }
  const isMeant = (part: readonly (readonly Step[])[]): boolean =>
    part.every((steps) => {
      const below = steps.findIndex(({ isMember }, i) => i > at && isMember)
      if (below < 0 || steps.slice(at, below).some(({ type }) => type === BlobRef)) return false
      return !(steps[below]?.key === 'type' && below === steps.length - 1)
    })
  const [meant, other] = [...parts.values()].filter(isMeant)
  if (meant === undefined || other !== undefined) return null
  const [first = []] = meant
  return { errors: meant, from: first.findIndex(({ isMember }, i) => i > at && isMember) }
}

const reasonAt = (steps: readonly Step[], at: number): string =>
  `${pathOf(steps, at) || 'the payload'} should be ${wordsFor(steps[at]?.type)}`

const pathOf = (steps: readonly Step[], at: number): string =>
  steps
    .slice(0, at + 1)
    .filter(({ isMember }) => isMember)
    .map(({ key }) => key)
    .join('.')

const words: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  null: 'null',
}

/** Codecs of ours are named by what they take; those of io-ts by their kind. */
const wordsFor = (type: t.Decoder<unknown, unknown> | undefined): string => {
  if (type === undefined) return 'valid'
  switch (tagOf(type)) {
    case 'ArrayType':
      return 'a list'
    case 'InterfaceType':
    case 'PartialType':
    case 'IntersectionType':
    case 'AnyDictionaryType':
      return 'an object'
    case 'LiteralType':
      return JSON.stringify((type as Tag).value)
    default:
      return words[type.name] ?? type.name
  }
}
