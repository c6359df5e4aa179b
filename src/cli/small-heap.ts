import { setFlagsFromString } from 'node:v8'

/** What is kept is looked through once it grew by so much (percent); by default it may come to four times what it needs. */
const growthPercent = 30

/**
 * Keeps the process small while it works through much that it does not keep. V8 by itself leaves garbage lying until it
 * is some times as much as what is in use, which at reading gigabytes is most of the memory. Costs a tenth of the time.
 */
export const keepHeapSmall = (): void => {
  // What is new is looked through in small pieces: they do not grow.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
