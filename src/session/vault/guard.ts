import type { Draft } from '../../events/draft.js'
import type { EventId } from '../../events/event.js'
import { replaceSecrets } from '../../secrets/matching.js'
import type { Secret } from '../../secrets/secret.js'
import { redactedValue, textsOf } from '../../secrets/values.js'
import type { Command } from '../command.js'
import type { Vault } from './vault.js'

/** Takes secrets out of what a session is about to write, where the store is opened with `redact: 'write'`. */
export interface Guard {
  drafts(session: EventId | null, drafts: readonly Draft[]): Promise<readonly Draft[]>
  command(session: EventId, command: Command): Promise<Command>
}

/** Each secret goes to the vault first, on disk; what is written holds the vault's placeholder. */
export const guardWith = (vault: Vault): Guard => {
  const guarded = async <Value>(session: EventId | null, value: Value): Promise<Value> => {
    const texts = [...new Set(textsOf(value))]
    if (texts.length === 0) return value
    const { detectInTexts } = await import('../../secrets/detect.js')
    const found = await detectInTexts(texts)
    if (found.every((secrets) => secrets.length === 0)) return value
    const secretsOf = new Map<string, readonly Secret[]>(texts.map((text, i) => [text, found[i] ?? []]))
    const replaced = redactedValue(value, (text) =>
      replaceSecrets(text, secretsOf.get(text) ?? [], ({ kind, start, end }) =>
        vault.keep(session, kind, text.slice(start, end)),
      ),
    ) as Value
    await vault.flush()
    return replaced
  }
  const guardedDrafts = async (
    session: EventId | null,
    drafts: readonly Draft[],
  ): Promise<readonly Draft[]> => {
    const safe = await guarded(session, drafts)
    return safe === drafts ? drafts : safe.map((draft, i) => unsigned(draft, drafts[i] as Draft))
  }
  return {
    drafts: guardedDrafts,
    command: async (session, command) => {
      if (command.do === 'append') {
        const drafts = await guardedDrafts(session, command.drafts)
        return drafts === command.drafts ? command : { ...command, drafts }
      }
      if (
        command.do === 'compact' ||
        command.do === 'edit' ||
        command.do === 'title' ||
        command.do === 'label'
      )
        return guarded(session, command)
      return command
    },
  }
}

/**
 * What a provider signed is worth nothing once a word of it is another: a changed thought goes without its signature, and
 * blocks that were to be sent back unchanged go altogether. The context is then made of what is left.
 */
const unsigned = (draft: Draft, before: Draft): Draft => {
  if (draft.type !== 'message') return draft
  const { replay, ...rest } = draft
  const thoughts = Array.isArray(draft.reasoning)
    ? {
        reasoning: draft.reasoning.map((thought, i) =>
          isSame(thought, (before.reasoning as readonly unknown[])[i]) ? thought : withoutSignature(thought),
        ),
      }
    : {}
  const blocks = replay === undefined || !isSame(replay, before.replay) ? {} : { replay }
  return { ...rest, ...thoughts, ...blocks } as Draft
}

const withoutSignature = ({ signature: _, ...thought }: Record<string, unknown>): object => thought

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
