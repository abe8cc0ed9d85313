import { useLingui } from "@lingui/react/macro";
import { Modal } from "@mantine/core";
import { useEffect, useSyncExternalStore } from "react";
import { release, signedOutStore } from "../../api/client/signed-out.ts";
import type { Session } from "../../api/session.ts";
import { lazyPart } from "../../common/load-part.tsx";

const SignInAgain = lazyPart(async () => (await import("./sign-in-again.tsx")).SignInAgain);

/** Above dialogs, menus and notifications. */
const zIndex = 10_000;

/**
 * Covers the page when the session has ended or is too old to prove who the user is, until they have signed in here or in
 * another tab. The page stays as it is, and its waiting requests then continue.
 */
export function SignedOut({ session }: { session: Session }) {
  const { t } = useLingui();
  const reason = useSyncExternalStore(signedOutStore.subscribe, signedOutStore.get);
  useEffect(() => {
    // Escape would close the dialogs below.
    const keepDialogs = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && signedOutStore.get() === "signed_out") event.stopImmediatePropagation();
    };
    window.addEventListener("keydown", keepDialogs, { capture: true });
    return () => window.removeEventListener("keydown", keepDialogs, { capture: true });
  }, []);
  useEffect(() => {
    // The browser has kept the whole page, perhaps since before its user signed out.
    const reload = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) window.location.reload();
    };
    window.addEventListener("pageshow", reload);
    return () => window.removeEventListener("pageshow", reload);
  }, []);
  return (
    <Modal
      opened={reason !== null}
      onClose={() => reason === "proof_required" && release(false)}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={reason === "proof_required"}
      centered
      title={
        reason === "proof_required" ? t`Confirm that it's you` : t`You've been signed out. Sign in again.`
      }
      zIndex={zIndex}
      overlayProps={{ backgroundOpacity: 0.55, blur: 3 }}
    >
      <SignInAgain session={session} reason={reason} />
    </Modal>
  );
}
