import fc from 'fast-check'

/** A file as the model knows it; null: nothing there. */
export type Content = { readonly text: string; readonly mode: number } | { readonly link: string } | null

const path = fc.constantFrom('a', 'b', 'd', 'd/x', 'd/y', 'e/f')
const content: fc.Arbitrary<Content> = fc.oneof(
  fc.record({
    text: fc.constantFrom('', 'one\n', 'two\r\n', 'three', '\0four'),
    mode: fc.constantFrom(0o644, 0o755, 0o600),
  }),
  // Links that lead to a file would have that one tracked too: there are stories for it.
  fc.record({ link: fc.constantFrom('no-such-file', '/nowhere') }),
  fc.constant(null),
)
const who = fc.constantFrom(0, 0, 0, 1)
const onConflict = fc.constantFrom('stop' as const, 'force' as const, 'keep' as const)
const what = fc.constantFrom('both' as const, 'both' as const, 'code' as const, 'conversation' as const)

const turnOf = (whose: fc.Arbitrary<number>) =>
  fc.record({
    do: fc.constant('turn' as const),
    who: whose,
    edits: fc.array(fc.record({ path, content }), { minLength: 1, maxLength: 3, size: 'max' }),
  })

/** What can happen in a workspace with two sessions: turns are a prompt and what its tools do. `nth` picks among what there is. */
const command = fc.oneof(
  { weight: 6, arbitrary: turnOf(who) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('user' as const), path, content }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('undo' as const),
      who,
      nth: fc.nat(),
      what,
      onConflict,
      andRedo: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('redo' as const), who, onConflict }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('checkout' as const), who, nth: fc.nat(), what, onConflict }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const), who }) },
)
export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** Two turns of the first session, so that there is something to move to, and whatever comes then. */
export const commands: fc.Arbitrary<readonly Command[]> = fc
  .tuple(
    turnOf(fc.constant(0)),
    turnOf(fc.constant(0)),
    fc.array(command, { minLength: 3, maxLength: 14, size: 'max' }),
  )
  .map(([first, second, rest]) => [first, second, ...rest])
