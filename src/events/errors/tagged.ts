/**
 * The base of every error that Coppice gives back. An error is a value: `tag` tells its kind, the message says
 * what failed, where, and what to do, in that order. It extends Error so that a Promise may reject with it.
 */
export abstract class Tagged extends Error {
  abstract readonly tag: string

  constructor(
    readonly what: string,
    readonly where: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super([what, where, hint].filter((part) => part !== '').join(': '), options)
  }

  /** The own members of the error for machines: `tag`, `message` and what the kind adds. */
  toJSON(): Record<string, unknown> {
    const { what: _what, where: _where, hint: _hint, cause: _cause, ...own } = this as Record<string, unknown>
    return { tag: this.tag, message: this.message, ...own }
  }
}

/** Narrows an unknown rejection to the error of one kind. */
export const hasTag = <T extends string>(error: unknown, tag: T): error is Tagged & { readonly tag: T } =>
  error instanceof Tagged && error.tag === tag
