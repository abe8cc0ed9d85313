import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Button, Loader, Text, ThemeIcon } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ChecklistStep } from "../../api/settings/system.ts";
import { ServerText } from "../format/server-text.tsx";
import classes from "./checklist.module.css";

/** What to set up, as a list of steps. */
export function Checklist({ children }: { children: ReactNode }) {
  const { t } = useLingui();
  return (
    <ul aria-label={t`Set up Parley`} className={classes.steps ?? ""}>
      {children}
    </ul>
  );
}

type StepState = "done" | "failing" | "todo" | "unknown";

const marks: Readonly<Record<StepState, { icon: ReactNode; color: string; label: MessageDescriptor }>> = {
  done: { icon: <IconCheck size={16} />, color: "teal", label: msg`Done` },
  failing: { icon: <IconAlertTriangle size={16} />, color: "red", label: msg`Failing` },
  todo: { icon: <IconCircle size={16} />, color: "gray", label: msg`To do` },
  unknown: { icon: <Loader size={14} />, color: "gray", label: msg`Checking` },
};

export function Step(props: { state: StepState; title: string; text: ReactNode; action: ReactNode }) {
  const { t } = useLingui();
  const { icon, color, label } = marks[props.state];
  return (
    <li>
      <ThemeIcon size={26} radius="xl" variant="light" color={color} role="img" aria-label={t(label)}>
        {icon}
      </ThemeIcon>
      <div>
        <Text fw={500}>{props.title}</Text>
        <Text size="sm" c="dimmed" className={classes.text ?? ""}>
          {props.text}
        </Text>
      </div>
      {props.action}
    </li>
  );
}

interface Target {
  readonly to: string;
  /** A section of that page. */
  readonly hash?: string;
  readonly label: string;
}

export function StepLink({ to, hash, label }: Target) {
  return (
    <Button component={Link} to={to} {...(hash === undefined ? {} : { hash })} size="xs" variant="light">
      {label}
    </Button>
  );
}

interface ServerStep extends Omit<Target, "label"> {
  readonly title: MessageDescriptor;
  readonly label: MessageDescriptor;
}

const serverSteps: Readonly<Record<ChecklistStep["step"], ServerStep>> = {
  mail: {
    title: msg({ message: "Email", context: "service" }),
    to: "/settings/server",
    hash: "mail",
    label: msg`Email settings`,
  },
  backups: { title: msg`Backups`, to: "/settings/server", hash: "backups", label: msg`Backup settings` },
  speech: { title: msg`Transcription`, to: "/settings/transcription", label: msg`Transcription` },
  language_model: {
    title: msg`Language model`,
    to: "/settings/language-model",
    label: msg`Language model`,
  },
  sign_in: {
    title: msg`Single sign-on`,
    to: "/settings/server",
    hash: "sign-in",
    label: msg`Sign-in settings`,
  },
  second_admin: { title: msg`A second admin`, to: "/settings/users", label: msg`Users` },
};

/** What the operator sets up, as the server knows it. */
export function ServerSteps({ steps }: { steps: readonly ChecklistStep[] }) {
  const { t } = useLingui();
  return steps.map(({ step, done, failing, explanation }) => {
    const { title, label, ...target } = serverSteps[step];
    const state = failing ? "failing" : done ? "done" : "todo";
    return (
      <Step
        key={step}
        state={state}
        title={t(title)}
        text={<ServerText text={explanation} />}
        action={<StepLink {...target} label={t(label)} />}
      />
    );
  });
}
