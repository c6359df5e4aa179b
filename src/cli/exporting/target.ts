import { resolve } from 'node:path'
import type { SessionReader } from '../../session/api.js'
import type { Context } from '../context.js'
import { short } from '../names.js'
import { writeNewFile } from '../new-file.js'
import { safeName } from '../safe-text.js'

/** Where an export goes: stdout for `-`, else a file, relative to the workspace, `coppice-<id8>.<ending>` without a name. */
export const targetOf = (
  context: Context,
  { id }: SessionReader,
  path: string | undefined,
  ending: string,
): string | null =>
  path === '-' ? null : resolve(context.workspace, path ?? `coppice-${short(id)}.${ending}`)

/** Writes what comes, whole or not at all (to a file), and says where. */
export const writeOut = async (
  context: Context,
  target: string | null,
  force: boolean,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> => {
  if (target === null) for await (const chunk of chunks) await context.out.write(chunk)
  else await writeNewFile(target, force, chunks)
}

/** Says where it is, and what there is to know of it: notes go to stderr. */
export const sayWritten = async (
  context: Context,
  target: string | null,
  notes: readonly string[],
): Promise<void> => {
  if (target !== null && context.json) await context.out.json({ path: target, notes })
  else if (target !== null) await context.out.line(safeName(target))
  if (context.json && target !== null) return
  if (!context.quiet) for (const note of notes) await context.warn(note)
}
