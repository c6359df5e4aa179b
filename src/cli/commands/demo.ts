import type { Run } from '../context.js'
import { tour } from '../demo/tour.js'

export const run: Run = async (context) => {
  await tour(context)
  return undefined
}
