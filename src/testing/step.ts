import fc from 'fast-check'

/** One step of a writer. `a`, `b` and `text` mean what each kind makes of them. */
export interface Step {
  readonly writer: 0 | 1
  readonly kind: (typeof kinds)[number]
  readonly pick: number
  readonly a: number
  readonly b: boolean
  readonly text: string
}

const kinds = [
  'user',
  'user',
  'user',
  'assistant',
  'assistant',
  'assistant',
  'call',
  'call',
  'call',
  'result',
  'result',
  'result',
  'result',
  'tool',
  'tool',
  'system',
  'aside',
  'hidden',
  'context-free',
  'compact',
  'compact',
  'branch',
  'undo',
  'undo',
  'redo',
  'checkout',
  'edit',
  'custom',
  'unknown',
  'checkpoint',
  'restore',
  'title',
  'status',
  'label',
  'process',
  'usage',
  'request',
  'follow',
  'follow',
] as const

export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  writer: fc.constantFrom(0, 0, 0, 1),
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(1000),
  a: fc.nat(3),
  b: fc.boolean(),
  text: fc.oneof(fc.constantFrom('', 'hello', 'a\n b', '[]'), fc.string({ maxLength: 8 })),
})
