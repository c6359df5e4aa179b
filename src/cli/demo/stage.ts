import type { Context } from '../context.js'
import { clipped } from '../width.js'

/** Where the tour speaks: numbered steps, what happens in them, and lines of what a command would print. */
export class Stage {
  #step = 0

  constructor(private readonly context: Context) {}

  async title(text: string, below: string): Promise<void> {
    const { out, colours } = this.context
    await out.line()
    await out.line(`  ${colours.bold(colours.green(text))}`)
    await out.line(`  ${colours.dim(below)}`)
  }

  /** A step, why it matters, and the command that does the same. */
  async step(what: string, why: string, command?: string): Promise<void> {
    const { out, colours } = this.context
    await out.line()
    await out.line(`${colours.bold(colours.cyan(`${++this.#step}. ${what}`))}`)
    await out.line(`   ${colours.dim(why)}`)
    if (command !== undefined) await out.line(`   ${colours.green('$')} coppice ${command}`)
    await out.line()
  }

  async say(text: string): Promise<void> {
    await this.context.out.line(`   ${text}`)
  }

  /** At most `most` lines, from both ends. */
  async show(lines: readonly string[], most = 40): Promise<void> {
    const cut = lines.length - most
    const first = cut > 0 ? lines.slice(0, Math.ceil(most * 0.6)) : lines
    const last = cut > 0 ? lines.slice(first.length + cut) : []
    for (const line of first) await this.say(line)
    if (cut > 0) await this.say(this.context.colours.dim(`⋮ ${cut} more lines`))
    for (const line of last) await this.say(line)
  }

  /** Columns left beside the margin. */
  get columns(): number {
    return Math.min(this.context.out.columns, 120) - 4
  }

  /** What fits, beside `reserved` columns. */
  clip(text: string, reserved = 0): string {
    return clipped(text, this.columns - reserved)
  }
}
