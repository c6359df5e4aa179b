import type { Event, EventId } from '../events/event.js'
import { edited, editsOf } from '../projections/edits.js'
import { listOf, type Members, membersOf, recordOf } from '../projections/members.js'
import type { CompactInput } from './api.js'
import type { CompactionDraft } from './command.js'
import type { Reader } from './reader.js'

/** What of a message the context needs when the message itself is no longer read. */
const keptMembers = ['role', 'content', 'context', 'aside', 'group'] as const

/** A rough count where no provider gave one: four characters of JSON a token. */
export const estimateTokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4)

/**
 * The members of a compaction: `keep` as the branch is now seen, so that a resume need not look further back (INV-11),
 * and the tokens before and after, estimated where the caller does not know them.
 */
export const compactionMembers = async (
  reader: Reader,
  at: EventId,
  input: CompactInput,
): Promise<CompactionDraft> => {
  const before = await reader.contextMessages({ at })
  const keep = kept(await reader.recent({ at }))
  const tokensBefore = input.tokensBefore ?? estimateTokens(before)
  const after = afterThrough(before, input)
  const tokensAfter = input.tokensAfter ?? estimateTokens([keep, input.summary, after])
  return { ...input, trigger: input.trigger ?? 'manual', keep, tokensBefore, tokensAfter }
}

/** Without `through` nothing but an open batch of calls stays, which is little. */
const afterThrough = (
  before: readonly { readonly ids?: readonly EventId[] }[],
  { through }: CompactInput,
): readonly unknown[] => {
  const cut = through === undefined ? -1 : before.findIndex(({ ids }) => ids?.includes(through) === true)
  return cut < 0 ? [] : before.slice(cut + 1)
}

interface Kept {
  readonly id: EventId
  readonly message: Members
}

/** System messages and what is pinned (`meta.pinned`), those of an earlier compaction included, as the branch's edits left them. */
const kept = (recent: readonly Event[]): readonly Kept[] => {
  const edits = editsOf(recent)
  return recent
    .flatMap((event) => [...earlier(event), ...standing(event)])
    .map(({ id, message }) => {
      const seen = edited(id, message, edits)
      return {
        id,
        message: Object.fromEntries(
          keptMembers.flatMap((key) => (Object.hasOwn(seen, key) ? [[key, seen[key]]] : [])),
        ),
      }
    })
}

const earlier = (event: Event): readonly Kept[] =>
  event.type !== 'compaction'
    ? []
    : listOf(membersOf(event).keep).flatMap((item) => {
        const { id, message } = recordOf(item) ?? {}
        const members = recordOf(message)
        return typeof id === 'string' && members !== null ? [{ id, message: members }] : []
      })

const standing = (event: Event): readonly Kept[] => {
  const message = membersOf(event)
  if (event.type !== 'message' || event.redacted === true || message.context === false) return []
  return message.role === 'system' || recordOf(message.meta)?.pinned === true
    ? [{ id: event.id, message }]
    : []
}
