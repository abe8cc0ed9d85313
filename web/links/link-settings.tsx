import { Button, Group, PasswordInput, Stack, Switch, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { useMediaQuery } from "@mantine/hooks";
import { useState } from "react";
import { changeLink, type LinkBody, type LinkChange } from "../api/links.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";
import { clock } from "../common/time.ts";
import { localText, readClock, toIso } from "./form-values.ts";
import type { Linked } from "./linked.ts";
import classes from "./links.module.css";

const dayMs = 86_400_000;
const presets = [
  { days: 1, label: "In a day" },
  { days: 7, label: "In a week" },
  { days: 30, label: "In 30 days" },
] as const;

/** What a link allows: until when, with which password, with download or not, from where. */
export function LinkSettings(props: { link: LinkBody; linked: Linked; onClose: () => void }) {
  const { link, linked, onClose } = props;
  const { nowMs, durationMs } = linked;
  const [expires, setExpires] = useState<string | null>(
    link.expires_datetime === null ? null : localText(new Date(link.expires_datetime)),
  );
  // Beside the days they are wider than a phone.
  const hasPresets = useMediaQuery("(min-width: 30em)", true, { getInitialValueInEffect: false });
  const [hasPassword, setHasPassword] = useState(link.has_password);
  const [password, setPassword] = useState("");
  const [canDownload, setDownload] = useState(link.allow_download);
  const [start, setStart] = useState(link.start === null ? "" : clock(link.start));
  const startMs = readClock(start);
  const isStartWrong = startMs === undefined || (startMs !== null && startMs > (durationMs ?? Infinity));
  const save = useAction({
    run: () => {
      const body: LinkChange = {
        expires_datetime: expires === null ? null : toIso(expires),
        allow_download: canDownload,
        ...(startMs === undefined || nowMs === undefined ? {} : { start: startMs }),
        ...(hasPassword ? (password === "" ? {} : { password }) : { password: null }),
      };
      return changeLink(link.id, body);
    },
    done: "Saved",
    refresh: [["links"]],
    showsError: true,
    onDone: onClose,
  });
  const faults = fieldErrors(save.error);
  const needsPassword = hasPassword && !link.has_password && password === "";
  return (
    <form
      className={classes.panel}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isStartWrong && !needsPassword) save.mutate();
      }}
    >
      <Stack gap="sm">
        <DateTimePicker
          label="Expires"
          placeholder="Never"
          clearable
          data-autofocus
          minDate={localText(new Date()).slice(0, 10)}
          presets={(hasPresets ? presets : []).map(({ days, label }) => ({
            value: localText(new Date(Date.now() + days * dayMs)),
            label,
          }))}
          clearButtonProps={{ "aria-label": "Never" }}
          timePickerProps={{ hoursInputLabel: "Hour", minutesInputLabel: "Minute" }}
          submitButtonProps={{ "aria-label": "Take this time" }}
          value={expires}
          onChange={setExpires}
          error={faults.expires_datetime}
        />
        <Switch
          label="Ask for a password"
          checked={hasPassword}
          onChange={(event) => setHasPassword(event.currentTarget.checked)}
        />
        {hasPassword ? (
          <PasswordInput
            label={link.has_password ? "New password" : "Password"}
            placeholder={link.has_password ? "Stays as it is" : ""}
            description="At least 6 characters. A new one locks out whoever had the old one."
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={faults.password}
            visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          />
        ) : null}
        <Switch
          label="Offer the file for download"
          checked={canDownload}
          onChange={(event) => setDownload(event.currentTarget.checked)}
        />
        {nowMs === undefined ? null : (
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              label="Begin at"
              placeholder="The beginning"
              flex={1}
              value={start}
              onChange={(event) => setStart(event.currentTarget.value)}
              error={
                isStartWrong
                  ? `A moment like 1:05${durationMs === undefined ? "" : `, up to ${clock(durationMs)}`}`
                  : faults.start
              }
            />
            <Button variant="default" onClick={() => setStart(clock(nowMs()))}>
              Current moment
            </Button>
          </Group>
        )}
        <FormError error={save.error} fields={["expires_datetime", "password", "start"]} />
        <Group gap="xs">
          <Button type="submit" size="xs" loading={save.isPending} disabled={isStartWrong || needsPassword}>
            Save
          </Button>
          <Button size="xs" variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
