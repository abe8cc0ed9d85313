import { Button, CloseButton, Group, Loader, Paper, Text, ThemeIcon, Title } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { usersQuery } from "../api/directory.ts";
import type { Session } from "../api/session.ts";
import { type Component, systemQuery } from "../api/settings/system.ts";
import { counted } from "../common/format/count.ts";
import { SamplesButton } from "../common/samples.tsx";
import classes from "./library.module.css";

const hiddenKey = "parley.first-steps-hidden";

/** What an admin of a new installation sets up, each with its state and a link. */
export function FirstSteps({ session }: { session: Session }) {
  const [isHidden, setHidden] = useState(() => isStoredHidden(session));
  if (isHidden) return null;
  return (
    <Paper withBorder radius="lg" className={classes.steps ?? ""}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={2} size="h4">
          Set up Parley
        </Title>
        <CloseButton
          aria-label="Hide the checklist"
          onClick={() => {
            storeHidden(session);
            setHidden(true);
          }}
        />
      </Group>
      <ul aria-label="Set up Parley">
        <Step
          state="off"
          title="Add the first recording"
          text="A video or audio file, with or without a transcript."
          action={<StepLink to="/uploads">Upload</StepLink>}
        />
        <Step
          state="off"
          title="Or look around first"
          text="Three short sample recordings with transcripts. One click removes them."
          action={<SamplesButton />}
        />
        <Users />
        {session.manages_system ? <Server /> : null}
      </ul>
    </Paper>
  );
}

function Users() {
  const { data } = useQuery(usersQuery);
  const count = data?.users.length ?? 1;
  return (
    <Step
      state={data === undefined ? "unknown" : count > 1 ? "ok" : "off"}
      title="Invite your team"
      text={count > 1 ? `${counted(count, "user")} in this workspace.` : "You are the only user so far."}
      action={<StepLink to="/settings/users">Users</StepLink>}
    />
  );
}

const serverSteps = [
  {
    component: "speech",
    title: "Transcription",
    off: "New recordings aren't transcribed yet. Download a speech model, or connect a speech server.",
    to: "/settings/transcription",
    label: "Transcription",
  },
  {
    component: "language_model",
    title: "Language model",
    off: "Optional: writes summaries, action items and titles. Set PARLEY_LLM_URL to connect one.",
    to: "/settings/system",
    label: "System",
  },
  {
    component: "mail",
    title: "Email",
    off: "Invitations and notices can't be sent; their links are shown to you instead.",
    to: "/settings/system",
    label: "System",
  },
  {
    component: "backups",
    title: "Backups",
    off: "No backups are scheduled yet. Set PARLEY_BACKUP_TO to a folder or a bucket.",
    to: "/settings/system",
    label: "System",
  },
] as const satisfies readonly {
  component: Component["component"];
  title: string;
  off: string;
  to: string;
  label: string;
}[];

function Server() {
  const { data } = useQuery(systemQuery);
  return serverSteps.map(({ component, title, off, to, label }) => {
    const found = data?.components.find((one) => one.component === component);
    return (
      <Step
        key={component}
        state={found?.state ?? "unknown"}
        title={title}
        text={found === undefined || found.state === "off" ? off : found.explanation}
        action={<StepLink to={to}>{label}</StepLink>}
      />
    );
  });
}

type StepState = Component["state"] | "unknown";

const marks: Readonly<Record<StepState, { icon: ReactNode; color: string; label: string }>> = {
  ok: { icon: <IconCheck size={16} />, color: "teal", label: "Done" },
  failing: { icon: <IconAlertTriangle size={16} />, color: "red", label: "Failing" },
  off: { icon: <IconCircle size={16} />, color: "gray", label: "To do" },
  unknown: { icon: <Loader size={14} />, color: "gray", label: "Checking" },
};

function Step(props: { state: StepState; title: string; text: string; action: ReactNode }) {
  const { icon, color, label } = marks[props.state];
  return (
    <li>
      <ThemeIcon size={26} radius="xl" variant="light" color={color} role="img" aria-label={label}>
        {icon}
      </ThemeIcon>
      <div>
        <Text fw={500}>{props.title}</Text>
        <Text size="sm" c="dimmed">
          {props.text}
        </Text>
      </div>
      {props.action}
    </li>
  );
}

function StepLink(props: {
  to: "/uploads" | (typeof serverSteps)[number]["to"] | "/settings/users";
  children: string;
}) {
  return (
    <Button component={Link} to={props.to} size="xs" variant="light">
      {props.children}
    </Button>
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
