// @ts-check
/**
 * Opens sessions that Coppice wrote for Pi with Pi's own session manager, and holds the context that it builds against
 * what Coppice says the model gets: of samples, fixtures, sessions with branches, edits and compactions, and, where there
 * is one, of the corpus.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Carrying, joined, told, toldCall, toldIn, wordsIn } from './carried.mjs'
import { composed } from './composed.mjs'
import { packageAt, versionAt } from './package-at.mjs'

const corpus = process.env.COPPICE_CORPUS ?? ''

/**
 * @typedef {{ role: string, content: unknown, stopReason?: string, toolCallId?: string, command?: string,
 *   summary?: string }} PiMessage
 * @typedef {{ type: string, text?: string, name?: string, arguments?: unknown }} Block
 */

/** What a message tells. Pi itself leaves replies that broke off out of what it sends. @param {PiMessage} message */
const toldBy = ({ role, content, stopReason = '' }) => {
  if (stopReason === 'error' || stopReason === 'aborted') return []
  const blocks = /** @type {Block[]} */ (Array.isArray(content) ? content : [])
  const calls = blocks
    .filter(({ type }) => type === 'toolCall')
    .flatMap(({ name = '', arguments: given }) => toldCall(name, JSON.stringify(given)))
  const words = wordsIn(content).replace(summaryBefore, '').replace(summaryAfter, '')
  return [...told(role === 'toolResult' ? 'result' : role, words), ...calls]
}

/** What Pi puts around a summary. */
const summaryBefore = /^The (conversation history|following is a summary)[^<]*<summary>\n/
const summaryAfter = /\n?<\/summary>$/

/** Gives one line of what was shown; throws where it does not hold. */
export const check = async () => {
  const folder = packageAt('@mariozechner/pi-coding-agent', '0.73.1')
  const pi = await import(pathToFileURL(join(folder, 'dist/index.js')).href)
  const place = mkdtempSync(join(tmpdir(), 'coppice-pi-resume-'))
  try {
    const carrying = new Carrying(place)
    await composed(carrying, 24)
    for (const format of ['pi', 'claude'])
      if (existsSync(join(corpus, format))) carrying.importAny(format, join(corpus, format))
    /** @param {string} path @returns {PiMessage[]} */
    const contextIn = (path) => pi.SessionManager.open(path).buildSessionContext().messages
    const rows = carrying.sessions()
    let count = 0
    let others = 0
    for (const { session, origin } of rows) {
      const wanted = toldIn(carrying.context(session)).map(inPisWords)
      if (wanted.length === 0) continue
      const { path, notes } = carrying.coppice('export', session, 'pi', '--install', '--no-redact')
      const messages = contextIn(path)
      const found = pi.convertToLlm(messages).flatMap(toldBy)
      const order = isPinned(notes) ? sorted : joined
      count += found.length
      if (origin?.format === 'pi') {
        const source = carrying.files.get(session) ?? ''
        if (isWhole(source)) isAsBefore(messages, contextIn(copyOf(source, place)), session)
        if (difference(order(wanted), order(found)) !== null) others++
      } else {
        const differs = difference(order(wanted), order(found))
        if (differs !== null) throw new Error(`session ${session}: ${differs}`)
      }
    }
    return `Pi ${versionAt(folder)} opened ${rows.length} sessions: its context has all ${count} pieces of their histories (${others} of Pi's own files, torn or made by another program, Coppice itself reads otherwise)`
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Pi has a summary before all that was kept, what was pinned too. @param {readonly string[]} notes */
const isPinned = (notes) => notes.some((note) => note.includes('pinned message'))

/** Pi brings old files up to its version where they stand. @param {string} path @param {string} place */
const copyOf = (path, place) => {
  const copy = join(place, basename(path))
  copyFileSync(path, copy)
  return copy
}

/** Pi passes over a line that holds two records; Coppice does not, and gives each a line. @param {string} path */
const isWhole = (path) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .every((line) => line.trim() === '' || isJson(line))

/** @param {string} line */
const isJson = (line) => {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

/** What came from Pi gives Pi what its own file gave it. @param {PiMessage[]} now @param {PiMessage[]} before @param {string} session */
const isAsBefore = (now, before, session) => {
  if (!isDeepStrictEqual(now, before))
    throw new Error(
      `session ${session}: Pi reads its own file otherwise: ${JSON.stringify(before).slice(0, 2000)}`,
    )
}

/** A command that the user ran, as Pi tells the model of it. @param {string} one */
const inPisWords = (one) =>
  one
    .replaceAll(/Theuserran(`.*?`):/g, 'Ran$1')
    .replaceAll(/\(exitcode(\d+)\)/g, 'Commandexitedwithcode$1')
    .replaceAll('(cancelled)', '(commandcancelled)')

/** @param {readonly string[]} list */
const sorted = (list) => list.toSorted()

/** The first piece that is not as it should be; null where all are. @param {readonly string[]} wanted @param {readonly string[]} found */
const difference = (wanted, found) => {
  const at = Array.from({ length: Math.max(wanted.length, found.length) }).findIndex(
    (_, i) => found[i] !== wanted[i],
  )
  return at === -1 ? null : `${at + 1} of ${wanted.length} should be\n  ${wanted[at]}\nbut is\n  ${found[at]}`
}
