import type { Event } from '../events/event.js'
import { isPrompt, type Members, stringOf } from './members.js'
import { type TextValue, textList, textOf, titleFrom } from './text.js'

/** What a session is called: by whom, or by its first prompt. `firstPrompt` stands where that prompt lies in a blob. */
export interface Naming {
  readonly given: { readonly title: string; readonly by: 'user' | 'auto' | 'import' } | null
  readonly derived: string | null
  readonly firstPrompt: TextValue | null
}

export const unnamed: Naming = { given: null, derived: null, firstPrompt: null }

/** Auto replaces neither user nor import; an import does not replace the user. */
const rank = { auto: 0, import: 1, user: 2 } as const

export const nextNaming = (naming: Naming, event: Event, members: Members): Naming => {
  if (event.type === 'title') return rename(naming, members)
  return naming.derived === null && isPrompt(event, members) ? derive(naming, event, members) : naming
}

const rename = (naming: Naming, members: Members): Naming => {
  const title = stringOf(members.title)
  const by = members.by
  if (title === null || (by !== 'user' && by !== 'auto' && by !== 'import')) return naming
  return naming.given !== null && rank[by] < rank[naming.given.by]
    ? naming
    : { ...naming, given: { title, by } }
}

const derive = (naming: Naming, event: Event, members: Members): Naming => {
  if (event.redacted === true) return { ...naming, derived: '[redacted]' }
  const text = textOf(members.content)
  if (textList(text).every((item) => typeof item === 'string'))
    return { ...naming, derived: titleFrom(textList(text).join('\n')) }
  return { ...naming, derived: '[text]', firstPrompt: text }
}

export const titleOf = ({ given, derived }: Naming): string => given?.title ?? derived ?? 'New session'
