import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app.css";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { useLingui } from "@lingui/react/macro";
import { DirectionProvider, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode, useMemo } from "react";
import { createRoot } from "react-dom/client";
import { activateLanguage } from "../language/language.ts";
import { themeOf } from "../theme.ts";

/** Shows the contents of an HTML document, in the language of the browser. */
export async function render(contents: ReactNode, queryClient: QueryClient): Promise<void> {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  // react-remove-scroll reads the nonce for its styles from here.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  const element = document.getElementById("app");
  if (element === null) throw new Error("the document has no #app element");
  await activateLanguage();
  createRoot(element).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <DirectionProvider>
          <Themed nonce={nonce}>
            <QueryClientProvider client={queryClient}>{contents}</QueryClientProvider>
            <Notifications position="bottom-center" />
          </Themed>
        </DirectionProvider>
      </I18nProvider>
    </StrictMode>,
  );
}

function Themed({ nonce, children }: { nonce: string; children: ReactNode }) {
  const { t } = useLingui();
  const close = t`Close`;
  const theme = useMemo(() => themeOf(close), [close]);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      {children}
    </MantineProvider>
  );
}
