import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/app.css";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { DirectionProvider, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./app/query-client.ts";
import { createAppRouter } from "./app/router.tsx";
import { measureScrollbar } from "./app/scrollbar.ts";
import { activateLanguage } from "./language/language.ts";
import { theme } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// react-remove-scroll reads the nonce for its styles from here.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const queryClient = createQueryClient();
const router = createAppRouter(queryClient);
const element = document.getElementById("app");
if (element === null) throw new Error("the document has no #app element");

measureScrollbar();
void activateLanguage().then(() =>
  createRoot(element).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <DirectionProvider>
          <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
            <QueryClientProvider client={queryClient}>
              <RouterProvider router={router} />
            </QueryClientProvider>
            <Notifications position="bottom-center" />
          </MantineProvider>
        </DirectionProvider>
      </I18nProvider>
    </StrictMode>,
  ),
);
