import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import type { Compatibility, DatetimeFilters } from "../../contract/common.ts";
import type { FormState } from "../common/forms/form.tsx";

const readings = [
  { value: "contract", label: msg`As the API documentation says` },
  { value: "by-name", label: msg`By name` },
] as const satisfies readonly { value: DatetimeFilters; label: MessageDescriptor }[];

const names = [
  { value: "none", label: msg`crm only` },
  { value: "hubspot", label: msg`crm and hubspot` },
] as const satisfies readonly { value: Compatibility; label: MessageDescriptor }[];

/** How a program that was made for the original service reads and names things; null: the server's setting. */
export interface CompatibilityValue {
  readonly datetime_filters: DatetimeFilters | null;
  readonly compatibility: Compatibility | null;
}

/** The names of these fields in requests. */
export const compatibilityFields = ["datetime_filters", "compatibility"] as const;

/** The errors that the server reported for these fields. */
export function compatibilityErrors({ errorOf }: Pick<FormState, "errorOf">) {
  return { datetime_filters: errorOf("datetime_filters"), compatibility: errorOf("compatibility") };
}

/** Settings of a token or app for programs that were made for the original service. */
export function CompatibilityFields(props: {
  value: CompatibilityValue;
  onChange: (change: Partial<CompatibilityValue>) => void;
  errors: ReturnType<typeof compatibilityErrors>;
  /** Whether the server's setting can be chosen again: not once another one is saved. */
  canClear: boolean;
}) {
  const { t } = useLingui();
  const { value, onChange, errors, canClear } = props;
  return (
    <>
      <Select
        label={t`Date filters`}
        description={t`By name: before_datetime finds recordings that start before its value. Choose this if a program's lists stay empty.`}
        placeholder={t`Server default`}
        allowDeselect={canClear}
        data={readings.map(({ value, label }) => ({ value, label: t(label) }))}
        value={value.datetime_filters}
        onChange={(datetime_filters) => onChange({ datetime_filters })}
        error={errors.datetime_filters}
      />
      <Select
        label={t`CRM field names`}
        description={t`Choose crm and hubspot if a program asks for include.hubspot.`}
        placeholder={t`Server default`}
        allowDeselect={canClear}
        data={names.map(({ value, label }) => ({ value, label: t(label) }))}
        value={value.compatibility}
        onChange={(compatibility) => onChange({ compatibility })}
        error={errors.compatibility}
      />
    </>
  );
}

/** The chosen values, for a request. */
export function chosen({ datetime_filters, compatibility }: CompatibilityValue) {
  return {
    ...(datetime_filters === null ? {} : { datetime_filters }),
    ...(compatibility === null ? {} : { compatibility }),
  };
}

/** What differs from the API documentation, for a list. */
export function compatibilityFacts(value: CompatibilityValue): (string | null)[] {
  return [
    value.datetime_filters === "by-name" ? t`date filters by name` : null,
    value.compatibility === "hubspot" ? t`hubspot field names` : null,
  ];
}
