/** Finding secrets in texts, and taking them out. Its own entry: what a program does not ask for is not loaded. */
export { detectInTexts, detectSecrets } from './secrets/detect.js'
export { type Redactor, redactor } from './secrets/redactor.js'
export type { Secret } from './secrets/secret.js'
