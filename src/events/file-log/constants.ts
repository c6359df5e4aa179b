/** The log's name in its session's folder. */
export const logName = 'data.jsonl'
/** A gap is closed by the next append only this far from the end (bytes); also the most that one append writes at once. */
export const recoveryWindow = 4 * 1024 * 1024
/** What a forward reader takes from the file at once (bytes). */
export const forwardChunk = 256 * 1024
/** What a backward reader takes first (bytes); it doubles while a line is longer. */
export const backwardChunk = 64 * 1024
/** How long an append waits for another process's lock (ms), and its longest pause between two tries. */
export const lockDeadline = 10_000
export const lockPause = 10
/** How long a busy writer goes on before it looks whether others wait (ms). */
export const turn = 50
/** How long a reader waits for a writer before it believes in a torn tail (ms). */
export const readerPatience = 2_000
/**
 * A log whose sync failed is marked by this bit of its mode, which takes no disk space and which every writer sees in
 * the `stat` it does after each lock: its page cache may show bytes that the disk does not hold.
 */
export const unsyncedMark = 0o100
export const privateFile = 0o600
export const newline = 0x0a
