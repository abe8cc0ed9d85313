import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Switch, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { timePickerProps } from "../common/format/calendar.ts";
import "@mantine/dates/styles.css";
import { useState } from "react";
import { type LinkBody, type LinkChange, updateLink } from "../api/public-links.ts";
import { clock } from "../common/format/time.ts";
import { Form, useForm } from "../common/forms/form.tsx";
import { useWider } from "../common/use-wider.ts";
import { exactClock, localText, readClock, toIso } from "./form-values.ts";
import classes from "./link-settings.module.css";
import type { LinkSubject } from "./link-subject.ts";

const dayMs = 86_400_000;
const presets = [
  { days: 1, label: msg`In 1 day` },
  { days: 7, label: msg`In 7 days` },
  { days: 30, label: msg`In 30 days` },
] as const;

/** Edits a link's expiry, password, download and start. */
export function LinkForm(props: { link: LinkBody; subject: LinkSubject; onClose: () => void }) {
  const { t } = useLingui();
  const { link, subject, onClose } = props;
  const { nowMs, durationMs } = subject;
  const [expires, setExpires] = useState<string | null>(
    link.expires_datetime === null ? null : localText(new Date(link.expires_datetime)),
  );
  // Presets next to the calendar are wider than a phone.
  const hasPresets = useWider("xs");
  const [hasPassword, setHasPassword] = useState(link.has_password);
  const [password, setPassword] = useState("");
  const [canDownload, setDownload] = useState(link.allow_download);
  const [hasSummary, setSummary] = useState(link.include_summary);
  const [start, setStart] = useState(link.start === null ? "" : exactClock(link.start));
  const startMs = readClock(start);
  const isStartWrong = startMs === undefined || (startMs !== null && startMs > (durationMs ?? Infinity));
  const save = useForm({
    run: () => {
      const body: LinkChange = {
        expires_datetime: expires === null ? null : toIso(expires),
        allow_download: canDownload,
        ...(link.kind === "recording" ? { include_summary: hasSummary } : {}),
        ...(startMs === undefined || nowMs === undefined ? {} : { start: startMs }),
        ...(hasPassword ? (password === "" ? {} : { password }) : { password: null }),
      };
      return updateLink(link.id, body);
    },
    done: t`Saved`,
    refresh: [["links"]],
    onDone: onClose,
  });
  const needsPassword = hasPassword && !link.has_password && password === "";
  return (
    <div className={classes.panel}>
      <Form form={save} label={t`Save`} onCancel={onClose} isDisabled={isStartWrong || needsPassword}>
        <DateTimePicker
          {...timePickerProps()}
          label={t`Expires`}
          placeholder={t`Never`}
          clearable
          data-autofocus
          minDate={localText(new Date()).slice(0, 10)}
          presets={(hasPresets ? presets : []).map(({ days, label }) => ({
            value: localText(new Date(Date.now() + days * dayMs)),
            label: t(label),
          }))}
          clearButtonProps={{ "aria-label": t`Never` }}
          value={expires}
          onChange={setExpires}
          error={save.errorOf("expires_datetime")}
        />
        <Switch
          label={t`Require password`}
          checked={hasPassword}
          onChange={(event) => setHasPassword(event.currentTarget.checked)}
        />
        {hasPassword ? (
          <PasswordInput
            label={link.has_password ? t`New password` : t`Password`}
            placeholder={link.has_password ? t`Unchanged` : ""}
            description={t`At least 6 characters. A new password blocks anyone using the old one.`}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={save.errorOf("password")}
            visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
          />
        ) : null}
        <Switch
          label={t`Allow download`}
          checked={canDownload}
          onChange={(event) => setDownload(event.currentTarget.checked)}
        />
        {link.kind === "recording" ? (
          <Switch
            label={t`Include summary`}
            description={t`Visitors also see the summary and chapters.`}
            checked={hasSummary}
            onChange={(event) => setSummary(event.currentTarget.checked)}
          />
        ) : null}
        {nowMs === undefined ? null : (
          <Group gap="xs" align="flex-end">
            <TextInput
              label={t`Start at`}
              placeholder={t`Beginning`}
              flex={1}
              value={start}
              onChange={(event) => setStart(event.currentTarget.value)}
              error={
                isStartWrong
                  ? durationMs === undefined
                    ? t`Enter a time like 1:05`
                    : t`Enter a time like 1:05, up to ${{ length: clock(durationMs) }}`
                  : save.errorOf("start")
              }
            />
            <Button variant="default" onClick={() => setStart(exactClock(nowMs()))}>
              <Trans>Use current time</Trans>
            </Button>
          </Group>
        )}
      </Form>
    </div>
  );
}
