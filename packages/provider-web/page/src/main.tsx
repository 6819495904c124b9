import { render, type VNode } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { isToken, readAddress, type Address } from './address.ts'
import { InboxPage } from './inbox-page.tsx'
import { keptSetting, keptToken } from './keep.ts'
import { LanguageContext, type Language } from './language.ts'
import { chooseLanguage, loadLanguage } from './languages/index.ts'
import { TokenForm } from './views/token-form.tsx'

function Page({ address, first }: { address: Address; first: Language }): VNode {
  const { only } = address
  const [language, setLanguage] = useState(first)
  const { code, wording } = language
  const [token, setToken] = useState(address.token)
  // How many times a token was refused, so that each is told.
  const [refused, setRefused] = useState(0)
  useLayoutEffect(() => {
    document.documentElement.lang = code
    document.documentElement.dir = wording.dir
  }, [code])

  return (
    <LanguageContext.Provider value={language}>
      {!isToken(token) || refused > 0 ? (
        <TokenForm
          refused={refused}
          enter={entered => {
            if (!isToken(entered)) return setRefused(count => count + 1)
            keptToken.write(entered)
            setToken(entered)
            setRefused(0)
          }}
        />
      ) : (
        <InboxPage
          token={token}
          only={only}
          language={code}
          setLanguage={chosen => {
            keptSetting.write('language', chosen)
            loadLanguage(chosen).then(
              loaded => setLanguage({ code: chosen, wording: loaded }),
              // The server is away: the page stays as it is, and takes the language with its next start.
              () => {},
            )
          }}
          refused={() => setRefused(count => count + 1)}
        />
      )}
    </LanguageContext.Provider>
  )
}

const root = document.getElementById('page')
const code = chooseLanguage([keptSetting.read('language'), ...navigator.languages])
const address = readAddress()
const wording = await loadLanguage(code)
if (root !== null) render(<Page address={address} first={{ code, wording }} />, root)
// Another address for the same page: it is read anew, token and all.
addEventListener('hashchange', () => location.reload())
