import { resolveValues } from '../events/blob.js'
import type { EventId } from '../events/event.js'
import { context } from '../projections/context.js'
import { fold } from '../projections/replay.js'
import type { CompactionDraft } from './command.js'
import { keptOf } from './keep.js'
import { loadRecent } from './lookup.js'
import type { Sight } from './sight.js'

/** A rough count where no provider gave one: four characters of JSON a token. */
const estimateTokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4)

/** A compaction at an event with its tokens before and after, estimated where the caller does not know them. */
export const withTokens = async (
  sight: Sight,
  at: EventId,
  draft: CompactionDraft,
): Promise<CompactionDraft> => {
  if (draft.tokensBefore !== undefined && draft.tokensAfter !== undefined) return draft
  const events = await loadRecent(sight.walk(at))
  const resolve = <T>(value: T): Promise<T> =>
    resolveValues(value, (ref) => sight.log.blobs.get(sight.session, ref))
  const before = await resolve(context.view(fold(context, events)))
  const kept = await resolve(keptOf(events))
  const after = afterThrough(before, draft)
  return {
    ...draft,
    tokensBefore: draft.tokensBefore ?? estimateTokens(before),
    tokensAfter: draft.tokensAfter ?? estimateTokens([kept, draft.summary, after]),
  }
}

/** Without `through` nothing but an open batch of calls stays, which is little. */
const afterThrough = (
  before: readonly { readonly ids: readonly EventId[] }[],
  { through }: CompactionDraft,
): readonly unknown[] => {
  const cut = through === undefined ? -1 : before.findIndex(({ ids }) => ids.includes(through))
  return cut < 0 ? [] : before.slice(cut + 1)
}
