import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type AskState, askStateQuery } from "../api/ask.ts";
import { sessionQuery } from "../api/session.ts";

/** Whether there is a language model; "ready" as long as that is unknown: a request for its work gets the reason. */
export function useModelState(): AskState {
  return useQuery(askStateQuery).data ?? "ready";
}

const needs = {
  questions: msg`Questions need a language model.`,
  items: msg`Action items need a language model.`,
  intelligence: msg`Summaries, chapters and action items need a language model.`,
} as const;

/** What is missing, and who can provide it. @param props.subject what needs it. */
export function ModelMissing(props: { subject: keyof typeof needs; state: Exclude<AskState, "ready"> }) {
  const { t } = useLingui();
  return (
    <>
      {t(needs[props.subject])} <Remedy state={props.state} />
    </>
  );
}

function Remedy({ state }: { state: Exclude<AskState, "ready"> }) {
  const session = useQuery(sessionQuery).data;
  if (state === "off") return <Trans>It is turned off on this server.</Trans>;
  if (state === "not_installed")
    return session?.manages_system ? (
      <Trans>
        You can <Link to="/settings/language-model">install one in Settings</Link>.
      </Trans>
    ) : (
      <Trans>An admin of this server can install one in Settings, Language model.</Trans>
    );
  return session?.user.role === "admin" ? (
    <Trans>
      It is switched off for this workspace; <Link to="/settings/templates">switch it on in Settings</Link>.
    </Trans>
  ) : (
    <Trans>It is switched off for this workspace; an admin can switch it on in Settings, Templates.</Trans>
  );
}
