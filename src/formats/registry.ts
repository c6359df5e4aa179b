import { acp } from './acp/format.js'
import { claude } from './claude/format.js'
import { codex } from './codex/format.js'
import { deepcode } from './deepcode/format.js'
import { startOf } from './find.js'
import type { Format } from './format.js'
import { gemini } from './gemini/format.js'
import { opencode } from './opencode/format.js'
import { pi } from './pi/format.js'
import { zettcode } from './zettcode/format.js'

/** Every format that can be read, in the order in which a file is tried. */
export const formats: readonly Format[] = [claude, deepcode, zettcode, pi, codex, gemini, opencode, acp]

/** The format of that name; undefined where there is none. */
export const formatNamed = (name: string): Format | undefined =>
  formats.find((format) => format.name === name)

/** The format that a file looks like, by its path and its first 64 KiB; undefined where none claims it. */
export const detectFormat = async (path: string): Promise<Format | undefined> => {
  const start = await startOf(path)
  return formats.find((format) => format.detect(path, start))
}
