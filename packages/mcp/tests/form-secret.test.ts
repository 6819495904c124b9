import type { Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { formAsksForSecret } from '../src/form-secret.ts'

interface Asked {
  readonly id?: string
  readonly header?: string
  readonly detail?: string
  readonly options?: readonly (string | { readonly label: string; readonly description: string })[]
}

function asks(question: string, { options, id = 'q', ...more }: Asked = {}): boolean {
  const offered = options?.map(option => (typeof option === 'string' ? { label: option } : option))
  const asked: Question = { id, question, ...more, ...(offered === undefined ? {} : { options: offered }) }
  return formAsksForSecret([asked])
}

const options = ['A', 'B']

describe('a choice that speaks of secrets asks for none', () => {
  test.each<[string, string[]?]>([
    ['Should login use passwords or magic links?', ['Passwords', 'Magic links']],
    ['How should users sign in?', ['Password', 'Passkey', 'OAuth']],
    ['Where should API keys be stored?', ['.env', 'Vault']],
    ['JWT access token lifetime?'],
    ['Which pin number is the LED on?'],
    ['Which API key rotation policy?'],
    ['Max tokens?'],
    ['Token budget?'],
    ['Which secret manager should be used?', ['Vault', 'AWS Secrets Manager']],
    ['How should session tokens be stored?'],
    ['Should I add a password field to the User model?'],
    ['Should users enter a password to confirm?'],
    ['Which credit card brands should the checkout support?'],
    ['Do we hash passwords with argon2 or bcrypt?'],
    ['Which primary key type?'],
    ['Should the pin be on PB4?'],
    ['Which credentials provider chain?'],
    ['Which private key format?', ['PEM', 'DER']],
    ['Rotate the encryption keys now?'],
    ['Delete the unused API key "old-ci"?', ['Yes', 'No']],
    ['Should the passcode screen be shown?'],
    ['CSC or CVC tests first?'],
    ['Connection string format?'],
    ['What is the password policy?'],
    ['Forgotten passwords?', ['Send a password reset mail', 'Show the admin’s address']],
  ])('%s %j', (question, offered = options) => {
    expect(asks(question, { options: offered })).toBe(false)
  })

  test('whatever its id and header are', () => {
    expect(asks('Which secret manager?', { id: 'secrets', header: 'API keys', options })).toBe(false)
  })
})

describe('a choice beside which somebody is to type a secret asks for it', () => {
  test.each<[string, Asked?]>([
    ['What is your API key?'],
    ['What’s the database password?'],
    ['Please give me the API token'],
    ['Paste your OpenAI key'],
    ['Can you paste your cookie here?'],
    ['API key?'],
    ['Password?'],
    ['DATABASE_URL?'],
    ['Paste it here', { header: 'API key' }],
    ['Authenticate', { detail: 'Enter your password in the field' }],
    ['Which key?', { options: ['Use the one in .env', 'Paste your API key under Other'] }],
    ['How do I log in?', { options: ['Type the password below', 'Skip'] }],
    ['How do I get in?', { options: [{ label: 'Other', description: 'Paste your API key' }, 'Skip'] }],
    ['Access?', { options: ['Give me an access token', 'Skip'] }],
  ])('%s %j', (question, more) => {
    expect(asks(question, { options, ...more })).toBe(true)
  })
})

describe('a text that only has such a word asks for no secret', () => {
  test.each<[string, Asked?]>([
    ['Which GPIO pin drives the LED?', { header: 'Pin' }],
    ['Which GPIO pin drives the LED?', { id: 'pin' }],
    ['Which GPIO pin?', { header: 'GPIO Pin' }],
    ['Which CSS tokens?', { header: 'Tokens' }],
    ['Which design tokens should change?', { id: 'design_tokens' }],
    ['How many max tokens?', { id: 'max_tokens' }],
    ['Token budget?', { id: 'tokens' }],
    ['What token limit should the summary have?', { id: 'token_limit' }],
    ['Secretary name?', { header: 'Secretary' }],
    ['What secret santa date?', { header: 'Secret Santa' }],
    ['Boarding pass layout?', { id: 'boarding_pass' }],
    ['What to do in the first pass?', { id: 'first_pass' }],
    ['Which tests must pass?', { id: 'test_pass' }],
    ['Bypass reason?', { id: 'bypass' }],
    ['Reason?', { id: 'by_pass' }],
    ['Which compass?', { id: 'compass' }],
    ['The password reset mail: which subject?'],
    ['Design tokens: which naming scheme?'],
    ['Name the secret key in Kubernetes?'],
    ['Which tokenizer?'],
    ['Why?', { id: 'password_policy' }],
  ])('%s %j', (question, more) => {
    expect(asks(question, more)).toBe(false)
  })
})

describe('a text asks for a secret by its name', () => {
  test.each<[string, Asked?]>([
    ['Which one?', { id: 'password' }],
    ['What is it?', { id: 'pin' }],
    ['Enter it', { id: 'pw' }],
    ['Paste it here', { header: 'API key' }],
    ['What is your database password?'],
    ['sudo password for prod'],
    ['PASSWORD'],
    ['pass\u200bword?'],
    ['What is the DB_PASSWORD?'],
    ['Paste your OpenAI key'],
    ['Paste the sk-... key'],
    ['OpenAI API-Key?'],
    ['Your apikey please'],
    ['Give the APIKEY'],
    ['GitHub PAT'],
    ['Enter your GitHub PAT'],
    ['Paste the token here'],
    ['Paste the secret here'],
    ['What is the client secret?'],
    ['Webhook signing secret?'],
    ['AWS_SECRET_ACCESS_KEY?'],
    ['SMTP pass?'],
    ['Password for prod?', { options: ['Other'] }],
    ['What is your social security number?'],
    ['What is your PIN?'],
    ['2FA code'],
    ['What is the 2FA code?'],
    ['6-digit verification code'],
    ['Enter the 6-digit verification code from your phone'],
    ['seed phrase'],
    ['recovery phrase'],
    ['Enter your mnemonic'],
    ['Give me the JWT'],
    ['Paste your cookie'],
    ['DATABASE_URL?'],
    ['Kennwort?'],
    ['Passwort?'],
    ['Bitte das Passwort eingeben'],
    ['Mot de passe ?'],
    ['¿Contraseña?'],
    ['пароль?'],
    ['密码'],
    ['请输入密码'],
    ['パスワードは?'],
    ['Authenticate', { detail: 'Enter your password in the field' }],
  ])('%s %j', (question, more) => {
    expect(asks(question, more)).toBe(true)
  })
})

test('a long text is looked through at once', () => {
  for (const word of ['db ', 'paste ', 'enter key ', 'what is the ', 'should x '])
    expect(asks(word.repeat(200_000 / word.length), { options })).toBe(false)
})
