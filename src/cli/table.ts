import type { CheckpointReason } from '../checkpoints/take.js'

/** One option of a command, as commander reads it: `--limit <n>` takes a value, `--all` does not. */
export interface OptionSpec {
  readonly flags: string
  readonly text: string
  readonly choices?: readonly string[]
}

/** One command as data: the parser, the help, the completion and the check of docs/CLI.md are all made from it. */
export interface CommandSpec {
  readonly name: string
  /** As commander writes them: `<session>` must be there, `[event]` may, `[path...]` takes several. */
  readonly args?: readonly string[]
  readonly summary: string
  readonly options?: readonly OptionSpec[]
  readonly example: string
  readonly hidden?: true
  /** It runs, with nothing configured, also where the configuration cannot be read, and says so itself. */
  readonly withoutConfig?: true
  /** This version does not have the command yet. */
  readonly later?: true
}

/** Those of `status` events, here once more: their module is not loaded at every start. A test holds them equal. */
const statuses = [
  'pending',
  'processing',
  'completed',
  'failed',
  'interrupted',
  'ask_permission',
  'waiting_for_user',
  'permission_denied',
] as const

/** Those of `checkpoint` events. */
export const checkpointReasons = [
  'prompt',
  'before-tool',
  'after-tool',
  'safety',
  'manual',
] as const satisfies readonly CheckpointReason[]

const at: OptionSpec = { flags: '--at <event>', text: 'look at this event instead of the head' }
const salvage: OptionSpec = { flags: '--salvage', text: 'read past damage, and list what was skipped' }
const dryRun: OptionSpec = { flags: '--dry-run', text: 'say what would be done, and do nothing' }
const all: OptionSpec = { flags: '--all', text: 'every workspace of the store' }
const restoring: readonly OptionSpec[] = [
  { flags: '--force', text: 'restore files that others changed too' },
  { flags: '--keep', text: 'leave files that others changed, and go on' },
  { flags: '--outside', text: 'restore files outside the workspace too' },
]

/** The options that every command takes, before or after its name. */
export const globalOptions: readonly OptionSpec[] = [
  { flags: '--store <dir|url>', text: 'the store (else $COPPICE_STORE, $COPPICE_HOME, ~/.coppice)' },
  { flags: '-w, --workspace <dir>', text: 'the workspace (else the current folder)' },
  { flags: '--json', text: 'print JSON for programs' },
  { flags: '--no-color', text: 'no colours' },
  { flags: '-q, --quiet', text: 'no progress' },
  { flags: '--debug', text: 'show where an error comes from' },
]

/** In the order of the help. Long, because it is the one place that knows every command. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'new',
    summary: 'make a session, and print its id',
    options: [
      { flags: '--title <text>', text: 'its title (1 to 200 characters)' },
      { flags: '--system <file>', text: 'a system message to begin with, read from a file (- is stdin)' },
      {
        flags: '--track <what>',
        text: 'what of the code is tracked: files that tools name (the default), or the whole workspace',
        choices: ['edits', 'workspace'],
      },
    ],
    example: 'coppice new --title "Fix the login page"',
  },
  {
    name: 'append',
    args: ['<session>'],
    summary: 'append drafts from stdin, one JSON a line; print each id once it is on disk',
    options: [
      {
        flags: '--notice',
        text: 'before a user message, tell the model in a hidden message what the user changed in tracked files',
      },
    ],
    example: `echo '{"type":"message","role":"user","content":"hi"}' | coppice append 3f9a`,
  },
  {
    name: 'list',
    summary: 'list the sessions of the workspace, last changed first',
    options: [
      all,
      { flags: '--sub', text: "sub-agents' sessions too" },
      { flags: '--status <status>', text: 'only those of this status', choices: statuses },
      { flags: '--search <text>', text: 'only those with this in their title or first prompt' },
      { flags: '--limit <n>', text: 'no more than n' },
    ],
    example: 'coppice list --all --limit 10',
  },
  {
    name: 'show',
    args: ['<session>'],
    summary: 'print the transcript along the branch',
    options: [
      at,
      { flags: '--all', text: 'hidden messages too' },
      { flags: '--reveal', text: 'secrets that went to the vault too' },
      salvage,
    ],
    example: 'coppice show 3f9a --at @^',
  },
  {
    name: 'log',
    args: ['<session>'],
    summary: 'print every event of the log, newest first (with --at: of that path)',
    options: [at, salvage],
    example: 'coppice log 3f9a --json | head',
  },
  {
    name: 'tree',
    args: ['<session>'],
    summary: 'draw the tree: branches, head, labels, compactions, checkpoints',
    options: [salvage],
    example: 'coppice tree 3f9a',
  },
  {
    name: 'replay',
    args: ['<session>'],
    summary: 'fold the log from its first event: the state and its hash',
    options: [
      { flags: '--to <event>', text: 'stop after this event' },
      { flags: '--projection <name>', text: 'which fold (default: sessionIndex)' },
      { flags: '--each', text: 'after every event' },
      salvage,
    ],
    example: 'coppice replay 3f9a --projection context --each',
  },
  {
    name: 'context',
    args: ['<session>'],
    summary: 'print exactly what the model gets',
    options: [
      at,
      {
        flags: '--format <format>',
        text: 'the shape of the messages (default: openai)',
        choices: ['openai', 'anthropic', 'plain'],
      },
      salvage,
    ],
    example: 'coppice context 3f9a --format anthropic',
  },
  {
    name: 'undo',
    args: ['<session>', '[target]'],
    summary: 'go back to just before a user message; without TARGET list where one can go',
    options: [
      { flags: '--conversation', text: 'the conversation alone' },
      { flags: '--code', text: 'the code alone' },
      { flags: '--both', text: 'both (the default)' },
      { flags: '--all', text: 'list messages that a compaction covers too' },
      dryRun,
      ...restoring,
    ],
    example: 'coppice undo 3f9a 81c2',
  },
  {
    name: 'redo',
    args: ['<session>'],
    summary: 'take back the newest undo that was not yet redone',
    options: [dryRun, ...restoring],
    example: 'coppice redo 3f9a',
  },
  {
    name: 'checkout',
    args: ['<session>', '<event>'],
    summary: 'move the head to any node',
    options: [{ flags: '--code', text: 'the code too' }, dryRun, ...restoring],
    example: 'coppice checkout 3f9a before-refactoring',
  },
  {
    name: 'branch',
    args: ['<session>', '[name]'],
    summary: 'begin a named branch; without NAME list them',
    options: [{ flags: '--at <event>', text: 'where it begins (the head by default)' }, salvage],
    example: 'coppice branch 3f9a try-postgres --at 81c2',
  },
  {
    name: 'label',
    args: ['<session>', '[event]', '[text]'],
    summary: 'name a node (an empty text removes the name); without TEXT list the names',
    example: 'coppice label 3f9a @ before-refactoring',
  },
  {
    name: 'fork',
    args: ['<session>'],
    summary: 'make a new session that begins with that path',
    options: [{ flags: '--at <event>', text: 'where the path ends (the head by default)' }],
    example: 'coppice fork 3f9a --at 81c2',
  },
  {
    name: 'compact',
    args: ['<session>'],
    summary: 'write a compaction: a summary that stands for what came before',
    options: [
      { flags: '--summary <file>', text: 'the summary, read from a file (- is stdin)' },
      { flags: '--through <event>', text: 'the last event that it covers' },
    ],
    example: 'coppice compact 3f9a --summary summary.md',
  },
  {
    name: 'title',
    args: ['<session>', '[text]'],
    summary: 'name a session, or say its name',
    example: 'coppice title 3f9a "Fix the login page"',
  },
  {
    name: 'checkpoint',
    args: ['<session>', '[path...]'],
    summary: 'record the state of files',
    options: [{ flags: '--reason <reason>', text: 'why (default: manual)', choices: checkpointReasons }],
    example: 'coppice checkpoint 3f9a src/login.ts',
  },
  {
    name: 'checkpoints',
    args: ['<session>'],
    summary: 'list the checkpoints on the branch, and those that failed',
    options: [at, salvage],
    example: 'coppice checkpoints 3f9a',
  },
  {
    name: 'diff',
    args: ['<session>', '<a>', '[b]'],
    summary: 'print the code difference between two nodes; without B what changed from A to the head',
    options: [{ flags: '--stat', text: 'only how much changed' }, salvage],
    example: 'coppice diff 3f9a 81c2 @',
  },
  {
    name: 'discover',
    summary: 'find the stores of other agents on this machine',
    example: 'coppice discover',
  },
  {
    name: 'import',
    args: ['<format>', '<path...>'],
    summary: "take over other agents' sessions; again adds only what is new",
    options: [dryRun, { flags: '--watch', text: 'stay, and take over what is added' }],
    example: 'coppice import auto ~/.claude/projects',
  },
  {
    name: 'export',
    args: ['<session>', '<format>', '[path]'],
    summary: 'write a session to a file (- is stdout)',
    options: [
      { flags: '--force', text: 'overwrite the file' },
      { flags: '--install', text: 'put it where that agent looks, and say how to resume it there' },
      { flags: '--all', text: 'hidden messages too' },
      { flags: '--branch <branch>', text: 'this branch, instead of the one at the head' },
      { flags: '--from <event>', text: 'begin at this event' },
      { flags: '--to <event>', text: 'end at this event' },
      { flags: '--no-redact', text: 'leave secrets in' },
      salvage,
    ],
    example: 'coppice export 3f9a html report.html',
  },
  {
    name: 'search',
    args: ['<text>'],
    summary: 'find a text in conversations, newest first',
    options: [
      all,
      {
        flags: '--role <role>',
        text: 'only in messages of this role',
        choices: ['user', 'assistant', 'tool', 'system'],
      },
      { flags: '--limit <n>', text: 'no more than n' },
    ],
    example: 'coppice search "connection refused" --all',
  },
  {
    name: 'verify',
    args: ['[session...]'],
    summary: 'prove every hash, link, blob and index row',
    options: [
      { flags: '--since <time>', text: 'only sessions changed since (a time, or an age such as 7d)' },
    ],
    example: 'coppice verify',
  },
  {
    name: 'repair',
    args: ['<session>'],
    summary: 'make a damaged log usable, and keep the damaged one in the archive',
    example: 'coppice repair 3f9a',
  },
  {
    name: 'doctor',
    summary: 'check everything once',
    example: 'coppice doctor',
    withoutConfig: true,
  },
  {
    name: 'reindex',
    args: ['[session...]'],
    summary: 'rebuild the caches',
    example: 'coppice reindex',
  },
  {
    name: 'du',
    args: ['[session...]'],
    summary: 'say what takes space',
    example: 'coppice du',
  },
  {
    name: 'gc',
    args: ['[session...]'],
    summary: 'free the checkpoints that no session leads to, and pack the rest',
    options: [dryRun],
    example: 'coppice gc --dry-run',
  },
  {
    name: 'redact',
    args: ['<session>', '[event...]'],
    summary: 'replace what events said by tombstones',
    options: [
      { flags: '--detect', text: 'the events that hold a secret (of those that are named, if any are)' },
      { flags: '--reason <text>', text: 'why, for the note in the log' },
      dryRun,
    ],
    example: 'coppice redact 3f9a --detect --dry-run',
  },
  {
    name: 'delete',
    args: ['<session>'],
    summary: 'move a session to the archive, to be purged',
    example: 'coppice delete 3f9a',
  },
  {
    name: 'prune',
    summary: 'move all but the newest sessions of the workspace to the archive',
    options: [{ flags: '--keep <n>', text: 'how many stay' }, all, dryRun],
    example: 'coppice prune --keep 50 --dry-run',
  },
  {
    name: 'archive',
    args: ['[session]'],
    summary: 'move a session to the archive; without SESSION list what is there',
    options: [
      { flags: '--purge', text: 'remove archived sessions for good' },
      { flags: '--older-than <age>', text: 'only those archived longer ago than this (30d, 12h)' },
    ],
    example: 'coppice archive --purge --older-than 30d',
  },
  {
    name: 'unarchive',
    args: ['<session>'],
    summary: 'bring a session back from the archive',
    example: 'coppice unarchive 3f9a',
  },
  {
    name: 'relocate',
    args: ['<old>', '<new>'],
    summary: 'tell the store that a workspace moved',
    example: 'coppice relocate ~/old/app ~/new/app',
  },
  {
    name: 'stats',
    summary: 'add up tokens, cost and cache share per day, model and session',
    options: [all],
    example: 'coppice stats --all',
  },
  {
    name: 'watch',
    args: ['<session>'],
    summary: 'follow a log as it grows',
    options: [{ flags: '--after <event>', text: 'begin after this event (else with the next that comes)' }],
    example: 'coppice watch 3f9a --json',
  },
  {
    name: 'chat',
    summary: 'talk to a model',
    options: [
      { flags: '-p <prompt>', text: 'one prompt' },
      { flags: '--replay <session>', text: 'play a session' },
    ],
    example: 'coppice chat',
    later: true,
  },
  {
    name: 'resume',
    args: ['[session]'],
    summary: 'go on with a session',
    example: 'coppice resume 3f9a',
    later: true,
  },
  { name: 'continue', summary: 'go on with the last session', example: 'coppice continue', later: true },
  {
    name: 'push',
    args: ['<session...>'],
    summary: 'copy sessions to another store',
    options: [
      { flags: '--to <store>', text: 'where to' },
      { flags: '--with-code', text: 'the checkpoints too' },
    ],
    example: 'coppice push 3f9a --to /mnt/backup',
    later: true,
  },
  {
    name: 'pull',
    args: ['<session...>'],
    summary: 'copy sessions from another store',
    options: [
      { flags: '--from <store>', text: 'where from' },
      { flags: '--with-code', text: 'the checkpoints too' },
    ],
    example: 'coppice pull 3f9a --from /mnt/backup',
    later: true,
  },
  {
    name: 'completion',
    args: ['<shell>'],
    summary: 'print the completion script for bash, zsh or fish',
    example: 'source <(coppice completion bash)',
  },
  {
    name: 'demo',
    summary: 'a tour on a temporary store: what `npm start` shows',
    example: 'coppice demo',
    hidden: true,
  },
]
