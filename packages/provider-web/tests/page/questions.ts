import type { Question } from '@handraise/user-questions'

/** What the tests ask, beside `DB`. */

export const CHECKS: Question = {
  id: 'checks',
  header: 'Checks',
  question: 'Which checks should run?',
  multiSelect: true,
  options: [
    { label: 'Lint', description: 'oxlint over all files' },
    { label: 'Types', description: 'the compiler, without output' },
    { label: 'Tests (Recommended)', description: 'all of them' },
  ],
}

export const REGION: Question = {
  id: 'region',
  header: 'Region',
  question: 'Where should it run?',
  options: [
    { label: 'Frankfurt', description: 'Near most users' },
    { label: 'Virginia (Recommended)', description: 'Cheapest' },
    { label: 'Tokyo' },
  ],
}

export const NAME: Question = { id: 'name', header: 'Name', question: 'What should the service be called?' }

export const PLAN: Question = {
  id: 'plan',
  header: 'Plan',
  question: 'Go ahead with this plan?',
  detail: [
    '# Move the sessions',
    '',
    'The table grows by **2 GB** a week. See [the ticket](https://example.test/T-1).',
    '',
    '1. Copy the rows in batches of 1,000',
    '2. Switch the readers',
    '   - behind a flag',
    '3. Drop `sessions_old`',
    '',
    '```sql',
    'INSERT INTO sessions SELECT * FROM sessions_old LIMIT 1000',
    '```',
    '',
    '| step | takes |',
    '| --- | --- |',
    '| copy | 2 h |',
    '| switch | 5 min |',
  ].join('\n'),
  intent: { kind: 'plan-review', approve: 'Approve (Recommended)' },
  options: [
    { label: 'Approve (Recommended)', description: 'Starts at once' },
    { label: 'Approve, and ask before each step' },
    { label: 'Stay in planning' },
  ],
}
