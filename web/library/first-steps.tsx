import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { CloseButton, Group, Paper, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usersQuery } from "../api/directory.ts";
import type { Session } from "../api/session.ts";
import { type ChecklistStep, dismissChecklist, systemQuery } from "../api/settings/system.ts";
import { useAction } from "../common/actions.tsx";
import { Checklist, ServerSteps, Step, StepLink } from "../common/lists/checklist.tsx";
import { SamplesButton } from "../common/samples.tsx";
import classes from "./library.module.css";

const hiddenKey = "parley.first-steps-hidden";

/** What an admin of a new installation or workspace sets up, each with its state and a link. */
export function FirstSteps({ session }: { session: Session }) {
  return session.manages_system ? <OperatorSteps /> : <WorkspaceSteps session={session} />;
}

/** Hidden for all admins of the operator's workspace at once, as on the System page. */
function OperatorSteps() {
  const { data } = useQuery(systemQuery);
  const hide = useAction({ run: dismissChecklist, refresh: [systemQuery.queryKey] });
  const steps = data?.checklist;
  return steps == null ? null : <Steps server={steps} onHide={() => hide.mutate()} />;
}

/** Hidden in this browser. */
function WorkspaceSteps({ session }: { session: Session }) {
  const [isHidden, setHidden] = useState(() => isStoredHidden(session));
  if (isHidden) return null;
  const hide = () => {
    storeHidden(session);
    setHidden(true);
  };
  return <Steps server={[]} onHide={hide} />;
}

function Steps({ server, onHide }: { server: readonly ChecklistStep[]; onHide: () => void }) {
  const { t } = useLingui();
  return (
    <Paper withBorder radius="lg" className={classes.steps ?? ""}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={2} size="h4">
          <Trans>Set up Parley</Trans>
        </Title>
        <CloseButton aria-label={t`Hide the checklist`} onClick={onHide} />
      </Group>
      <Checklist>
        <Step
          state="todo"
          title={t`Add the first recording`}
          text={t`A video or audio file, with or without a transcript.`}
          action={<StepLink to="/uploads" label={t`Upload`} />}
        />
        <Step
          state="todo"
          title={t`Or look around first`}
          text={t`Three short sample recordings with transcripts. One click removes them.`}
          action={<SamplesButton />}
        />
        <Users />
        <ServerSteps steps={server} />
      </Checklist>
    </Paper>
  );
}

function Users() {
  const { t } = useLingui();
  const { data } = useQuery(usersQuery);
  const count = data?.users.length ?? 1;
  return (
    <Step
      state={data === undefined ? "unknown" : count > 1 ? "done" : "todo"}
      title={t`Invite your team`}
      text={
        count > 1
          ? plural(count, { one: "# user in this workspace.", other: "# users in this workspace." })
          : t`You are the only user so far.`
      }
      action={<StepLink to="/settings/users" label={t`Users`} />}
    />
  );
}

/** Storage is blocked in some browsers; the checklist is then shown again on the next visit. */
function isStoredHidden(session: Session): boolean {
  try {
    return localStorage.getItem(hiddenKey) === session.workspace.id;
  } catch {
    return false;
  }
}

function storeHidden(session: Session): void {
  try {
    localStorage.setItem(hiddenKey, session.workspace.id);
  } catch {
    // Shown again on the next visit.
  }
}
