import { useLingui } from "@lingui/react/macro";
import { PasswordInput, Select, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { isUnencrypted } from "../../../contract/accounts/redirect-target.ts";
import {
  type Connection,
  connectionsQuery,
  createConnection,
  type NewConnection,
} from "../../api/settings/connections.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { serviceLabels } from "./services.ts";

type Kind = Connection["kind"];
type FieldName = Exclude<keyof NewConnection, "kind" | "allow_http" | "media_hosts"> | "media_hosts";

interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly description?: string;
  readonly isSecret?: boolean;
  readonly isRequired?: boolean;
}

const common: readonly Field[] = [{ name: "name", label: "Name", isRequired: true }];

const ofBots: readonly Field[] = [
  { name: "base_url", label: "URL", description: "The URL of the service and its API.", isRequired: true },
  { name: "api_key", label: "API key", isSecret: true, isRequired: true },
];

const mediaHosts: Field = {
  name: "media_hosts",
  label: "Hosts of files",
  description:
    "If files come from another host, such as an S3 bucket: .s3.amazonaws.com. Separate several with commas.",
};

const fields: Readonly<Record<Kind, readonly Field[]>> = {
  zoom: [
    {
      ...{ name: "webhook_secret", label: "Secret token", isSecret: true, isRequired: true },
      description: "Shown in your Zoom app under Features → Access.",
    },
    {
      ...{ name: "account_id", label: "Account ID" },
      description:
        "From a server-to-server OAuth app. Needed for participants' emails, and for downloads after 24 hours.",
    },
    { name: "client_id", label: "Client ID" },
    { name: "client_secret", label: "Client secret", isSecret: true },
  ],
  attendee: [
    ...ofBots,
    {
      ...{ name: "webhook_secret", label: "Webhook secret", isSecret: true, isRequired: true },
      description: "Shown in Attendee under Settings → Webhooks.",
    },
    mediaHosts,
  ],
  vexa: [
    ...ofBots,
    {
      ...{ name: "webhook_secret", label: "Webhook secret", isSecret: true, isRequired: true },
      description: "The webhook_secret that you set in Vexa.",
    },
    mediaHosts,
  ],
};

/** Creates a connection. */
export function ConnectionForm({ onDone }: { onDone: () => void }) {
  const { t } = useLingui();
  const [kind, setKind] = useState<Kind>("zoom");
  const [values, setValues] = useState<Partial<Record<FieldName, string>>>({});
  const [allowsHttp, setAllowsHttp] = useState(false);
  const shown = [...common, ...fields[kind]];
  const create = useForm({
    run: () => createConnection(bodyOf(kind, shown, values, allowsHttp)),
    done: t`Connection created. Enter its webhook URL in the service.`,
    refresh: [connectionsQuery.queryKey],
    onDone,
  });
  const isIncomplete = shown.some(({ name, isRequired }) => isRequired && !values[name]?.trim());
  return (
    <Form form={create} label={t`Create connection`} isDisabled={isIncomplete}>
      <Select
        label={t`Service`}
        data={Object.entries(serviceLabels).map(([value, label]) => ({ value, label }))}
        value={kind}
        allowDeselect={false}
        onChange={(value) => {
          setKind((value ?? "zoom") as Kind);
          create.reset();
        }}
      />
      {shown.map(({ name, label, description, isSecret = false, isRequired = false }) => {
        const Input = isSecret ? PasswordInput : TextInput;
        return (
          <Input
            key={`${kind} ${name}`}
            label={label}
            description={description}
            required={isRequired}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            error={create.errorOf(name)}
          />
        );
      })}
      {kind !== "zoom" && isUnencrypted(values.base_url ?? "") ? (
        <Switch
          label={t`Connect without encryption`}
          description={t`The API key and recordings can be intercepted.`}
          checked={allowsHttp}
          onChange={(event) => setAllowsHttp(event.currentTarget.checked)}
        />
      ) : null}
    </Form>
  );
}

function bodyOf(
  kind: Kind,
  shown: readonly Field[],
  values: Partial<Record<FieldName, string>>,
  allowsHttp: boolean,
): NewConnection {
  const filled = shown.flatMap(({ name }) => {
    const value = values[name]?.trim() ?? "";
    return value === "" || name === "media_hosts" ? [] : [[name, value] as const];
  });
  const given: object = Object.fromEntries(filled);
  const hosts = (values.media_hosts ?? "").split(",").flatMap((host) => host.trim() || []);
  return {
    ...(given as Omit<NewConnection, "kind">),
    kind,
    ...(kind === "zoom" ? {} : { media_hosts: hosts }),
    ...(allowsHttp ? { allow_http: true } : {}),
  };
}
