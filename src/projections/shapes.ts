/**
 * The model's context in the shapes that providers take. All pure, and over RESOLVED values: blobs filled in, keys
 * restored (`resolveValues`). What a shape has no place for is said in words, never dropped.
 *
 * The summary of a compaction stands as a message of the user's after the kept messages, under a line that says what it
 * is: both providers accept that, it stays in its place among the messages, and what a model wrote about tool output
 * is not lifted to the weight of a system message.
 */
export * from './shapes/anthropic.js'
export * from './shapes/openai.js'
export * from './shapes/plain.js'
