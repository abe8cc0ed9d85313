import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type AskState, askStateQuery } from "../api/ask.ts";
import { sessionQuery } from "../api/session.ts";

/** Whether there is a language model; "ready" as long as that is unknown: a request for its work gets the reason. */
export function useModelState(): AskState {
  return useQuery(askStateQuery).data ?? "ready";
}

/**
 * What is missing, and who can provide it, in one sentence.
 * @param subject in the plural, such as "Questions".
 */
export function ModelMissing({ subject, state }: { subject: string; state: Exclude<AskState, "ready"> }) {
  const { t } = useLingui();
  const session = useQuery(sessionQuery).data;
  if (state === "off") return t`${subject} need a language model, which is turned off on this server.`;
  if (state === "not_installed")
    return (
      <>
        {subject} need a language model, which{" "}
        {session?.manages_system ? (
          <Link to="/settings/language-model">
            <Trans>you can install in Settings</Trans>
          </Link>
        ) : (
          t`an admin of this server can install in Settings, Language model`
        )}
        .
      </>
    );
  return (
    <>
      {subject} need a language model, which is switched off for this workspace;{" "}
      {session?.user.role === "admin" ? (
        <Link to="/settings/templates">
          <Trans>switch it on in Settings</Trans>
        </Link>
      ) : (
        t`an admin can switch it on in Settings, Templates`
      )}
      .
    </>
  );
}
