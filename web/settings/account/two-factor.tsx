import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { renderSVG } from "uqr";
import { type Session, sessionQuery } from "../../api/session.ts";
import {
  addSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  secondFactorQuery,
  sessionsQuery,
} from "../../api/settings/account.ts";
import { useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { CopyField, SecretOnce } from "../../common/dialogs/secret-once.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, NoneYet, Row, Rows, Section } from "../parts.tsx";

const changed = [secondFactorQuery.queryKey, sessionQuery.queryKey, sessionsQuery.queryKey];

/** What the dialog shows. */
export type Step =
  | { readonly kind: "password" }
  | { readonly kind: "scan"; readonly secret: string; readonly uri: string }
  | { readonly kind: "codes"; readonly codes: readonly string[] };

/** Two-factor authentication of a user who signs in with a password. */
export function TwoFactor({ session }: { session: Session }) {
  const { t } = useLingui();
  const state = useQuery(secondFactorQuery);
  const [step, setStep] = useState<Step | null>(null);
  const replace = useAction({
    run: replaceRecoveryCodes,
    refresh: [secondFactorQuery.queryKey],
    onDone: ({ recovery_codes }) => setStep({ kind: "codes", codes: recovery_codes }),
  });
  const isOn = session.has_second_factor;
  return (
    <Section
      title={t`Two-factor authentication`}
      lead={t`Signing in with your password then also takes a code of an app on your phone.`}
      action={
        isOn ? (
          <ConfirmButton
            text={t`Turn off`}
            button={{ variant: "light", size: "sm" }}
            title={t`Turn off two-factor authentication?`}
            label={t`Turn off`}
            run={removeSecondFactor}
            done={t`Two-factor authentication is off.`}
            refresh={changed}
          >
            <Trans>Your password alone is then enough to sign in.</Trans>
          </ConfirmButton>
        ) : (
          <Button variant="light" size="sm" onClick={() => setStep({ kind: "password" })}>
            <Trans>Turn on</Trans>
          </Button>
        )
      }
    >
      <Loaded query={state}>
        {({ since, recovery_codes_left }) =>
          since === null ? (
            <NoneYet>
              <Trans>Off.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Two-factor authentication`}>
              <Row
                title={t`Authenticator app`}
                facts={[
                  t`on since ${{ time: whenInLine(since) }}`,
                  plural(recovery_codes_left, {
                    one: "# of 10 recovery codes left",
                    other: "# of 10 recovery codes left",
                  }),
                ]}
                actions={
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    loading={replace.isPending}
                    onClick={() => replace.mutate()}
                  >
                    <Trans>New recovery codes</Trans>
                  </Button>
                }
              />
            </Rows>
          )
        }
      </Loaded>
      <FormDialog
        opened={step !== null}
        onClose={() => setStep(null)}
        title={step?.kind === "codes" ? t`Recovery codes` : t`Turn on two-factor authentication`}
        centered
      >
        {step === null ? null : (
          <TwoFactorSteps
            step={step}
            onStep={setStep}
            onDone={() => setStep(null)}
            onCancel={() => setStep(null)}
          />
        )}
      </FormDialog>
    </Section>
  );
}

interface StepsProps {
  readonly step: Step;
  readonly onStep: (next: Step) => void;
  /** Called when the user has kept the recovery codes. */
  readonly onDone: () => void;
  /** Left out where the user can't do without. */
  readonly onCancel?: () => void;
}

/** Turns two-factor authentication on: password, QR code, recovery codes. */
export function TwoFactorSteps({ step, onStep, onDone, onCancel }: StepsProps) {
  const { t } = useLingui();
  const cancel = onCancel === undefined ? {} : { onCancel };
  switch (step.kind) {
    case "password":
      return <PasswordStep onDone={(added) => onStep({ kind: "scan", ...added })} {...cancel} />;
    case "scan":
      return <ScanStep {...step} onDone={(codes) => onStep({ kind: "codes", codes })} {...cancel} />;
    case "codes":
      return (
        <SecretOnce label={t`Recovery codes`} value={step.codes.join("\n")} onDone={onDone}>
          <Text size="sm">
            <Trans>
              Each code signs you in once if you don't have your phone. Keep them where you keep passwords,
              not on the phone.
            </Trans>
          </Text>
        </SecretOnce>
      );
  }
}

interface PasswordStepProps {
  readonly onDone: (added: { secret: string; uri: string }) => void;
  readonly onCancel?: () => void;
}

function PasswordStep({ onDone, ...cancel }: PasswordStepProps) {
  const { t } = useLingui();
  const [password, setPassword] = useState("");
  const add = useForm({ run: () => addSecondFactor(password), onDone });
  return (
    <Form form={add} label={t`Continue`} isDisabled={password === ""} {...cancel}>
      <PasswordInput
        label={t`Your password`}
        autoComplete="current-password"
        required
        data-autofocus
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={add.errorOf("password")}
        visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
      />
    </Form>
  );
}

interface ScanStepProps {
  readonly secret: string;
  readonly uri: string;
  readonly onDone: (codes: readonly string[]) => void;
  readonly onCancel?: () => void;
}

function ScanStep({ secret, uri, onDone, ...cancel }: ScanStepProps) {
  const { t } = useLingui();
  const [code, setCode] = useState("");
  const confirm = useForm({
    run: () => confirmSecondFactor(code),
    done: t`Two-factor authentication is on.`,
    refresh: changed,
    onDone: ({ recovery_codes }) => onDone(recovery_codes),
  });
  return (
    <Form form={confirm} label={t`Turn on`} isDisabled={code.trim() === ""} {...cancel}>
      <Text size="sm">
        <Trans>
          Scan this with an authenticator app, such as the one of your password manager, 2FAS or Google
          Authenticator. You are then signed out of other browsers.
        </Trans>
      </Text>
      <Group justify="center">
        <img
          alt={t`QR code for your authenticator app`}
          width={200}
          height={200}
          // White around it in dark mode too, or cameras don't find it.
          src={`data:image/svg+xml,${encodeURIComponent(renderSVG(uri, { border: 2 }))}`}
        />
      </Group>
      <Stack gap={4}>
        <CopyField label={t`Or enter this key`} value={secret} />
      </Stack>
      <TextInput
        label={t`Code that the app shows`}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={10}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={confirm.errorOf("code")}
      />
    </Form>
  );
}
