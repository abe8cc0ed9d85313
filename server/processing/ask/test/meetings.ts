import { demoMeetings } from "../../../../demo/content/meetings/index.ts";

/** A meeting with its lines in order. */
export interface SpokenMeeting {
  readonly title: string;
  readonly language: string;
  readonly lines: readonly (readonly [speaker: string, text: string])[];
}

/** The sample meetings in English, French and German, others in these languages, Spanish and Japanese, and small talk. */
export function spokenMeetings(): SpokenMeeting[] {
  const samples = demoMeetings.map(({ title, language, participants, segments }) => {
    const names = new Map(participants.map(({ key, name }) => [key, name]));
    const lines = segments.map(({ key, text }) => [names.get(key) ?? "Guest", text] as const);
    return { title, language, lines };
  });
  const talk = Object.entries(smallTalk).flatMap(([language, sentences]) =>
    Array.from({ length: 8 }, (_, nth) => makeSmallTalk(language, sentences, nth)),
  );
  return [...samples, ...others, ...talk];
}

/** About ten passages of sentences that could be from any meeting, in an order of its own. */
function makeSmallTalk(language: string, sentences: readonly string[], nth: number): SpokenMeeting {
  let state = nth + 1;
  const lines = Array.from({ length: 150 }, (_, line) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return [`Guest ${line % 3}`, sentences[state % sentences.length] ?? ""] as const;
  });
  return { title: `${language} ${nth}`, language, lines };
}

const others: readonly SpokenMeeting[] = [
  {
    title: "Werkstattrunde",
    language: "de",
    lines: [
      [
        "Jonas Petersohn",
        "Moin zusammen. Heute drei Sachen: der Wasserschaden im Keller, der neue Lieferwagen und die Frage, wer im August hier ist. Fangen wir unten an.",
      ],
      [
        "Meike Harms",
        "Am Sonntagabend ist der Schlauch der Spülmaschine geplatzt. Als ich am Montag kam, standen zehn Zentimeter im Keller. Die unterste Reihe vom Regal mit den Kartons ist durchweicht.",
      ],
      ["Jonas Petersohn", "Was lag da drin, und was ist davon noch zu gebrauchen?"],
      [
        "Meike Harms",
        "Verpackung und alte Prospekte, zum Glück keine Elektronik. Den Gutachter von der Versicherung habe ich bestellt, er kommt am Donnerstag. Bis dahin sollen wir nichts wegwerfen und alles fotografieren.",
      ],
      [
        "Cem Aydın",
        "Ich habe zwei Trockner aus dem Baumarkt geholt, die brummen seit gestern. Laut Anzeige brauchen die Wände noch ungefähr drei Wochen, dann können wir streichen.",
      ],
      [
        "Jonas Petersohn",
        "Gut. Dann der Lieferwagen. Der alte hat keine Plakette mehr bekommen, der Rahmen ist durchgerostet. Reparieren lohnt sich nicht, das hat die Werkstatt in Kiel schriftlich gegeben.",
      ],
      [
        "Cem Aydın",
        "Ich habe mir zwei angesehen, einen Diesel und einen mit Batterie. Der elektrische schafft im Winter zweihundert Kilometer, das reicht für alle Häfen bis Flensburg. Im Monat ist er neunzig Euro teurer, dafür zahlt der Kreis einen Zuschuss.",
      ],
      [
        "Meike Harms",
        "Und wo laden wir ihn? Die Steckdose im Hof hängt an derselben Sicherung wie der Kompressor, da fliegt uns jedes Mal alles raus.",
      ],
      [
        "Cem Aydın",
        "Der Elektriker legt uns eine eigene Leitung, das kostet einmalig tausendvierhundert. Ich bin für den elektrischen, auch weil wir damit in die Altstadt dürfen.",
      ],
      [
        "Jonas Petersohn",
        "Dann machen wir das so, wir leasen den elektrischen für vier Jahre. Bleibt der August. Ich bin in den ersten beiden Wochen in Dänemark, das steht seit Weihnachten fest.",
      ],
      [
        "Meike Harms",
        "Ich nehme die letzten beiden. Dann ist Cem immer mit einem von uns da, und die Lehrlinge sind ohnehin in der Berufsschule.",
      ],
      [
        "Cem Aydın",
        "Mir ist das recht, ich fahre erst im Oktober zu meinen Eltern. Aber bitte keine Inventur im August, letztes Jahr stand ich allein zwischen den Schrauben.",
      ],
    ],
  },
  {
    title: "Point hebdomadaire : salon de Lorient",
    language: "fr",
    lines: [
      [
        "Maëlle Corvec",
        "Bonjour à tous. Le salon ouvre dans trois semaines, alors on fait le tour : le stand, les billets, la démonstration dans l'eau et la soirée du jeudi.",
      ],
      [
        "Thibault Renan",
        "Pour le stand, on a perdu l'angle près de l'entrée, l'organisateur l'a donné à un fabricant de voiles. On nous propose douze mètres carrés au fond, à côté de la buvette, avec une remise d'un tiers.",
      ],
      [
        "Maëlle Corvec",
        "À côté de la buvette, ce n'est pas si mal, les gens y font la queue et ils s'ennuient. On accepte, mais on demande une prise de courant de plus.",
      ],
      [
        "Ousmane Diarra",
        "La démonstration m'inquiète davantage. Le port n'autorise plus de bassin sur le quai depuis l'accident de l'an dernier, un enfant est tombé dedans. Il faut une clôture d'un mètre dix et une personne qui surveille en permanence.",
      ],
      [
        "Thibault Renan",
        "Une clôture, ça se loue. J'ai appelé, c'est deux cent quarante euros pour les quatre jours, livraison comprise. Pour surveiller, il nous faut quelqu'un le matin et quelqu'un l'après-midi.",
      ],
      [
        "Ousmane Diarra",
        "Ma nièce cherche un petit boulot, elle est maître-nageuse à la piscine de Lanester. Je lui demande ce soir si elle est libre.",
      ],
      [
        "Maëlle Corvec",
        "Très bien. Les hôtels sont complets, par contre. J'ai trouvé une grande maison à Larmor-Plage, cinq chambres, à vingt minutes en bus. Celui qui ronfle dort dans le garage.",
      ],
      [
        "Thibault Renan",
        "Je me sens visé. Pour les billets, on a trente invitations et il en reste sept. Je propose de les envoyer aux ostréiculteurs d'Étel plutôt qu'aux journalistes, qui ont déjà leur badge.",
      ],
      [
        "Ousmane Diarra",
        "D'accord. Et la brochure ? Chez l'imprimeur, ils disent que le bleu sort violet sur le papier recyclé. Ou bien on change de papier, ou bien on change de bleu.",
      ],
      [
        "Maëlle Corvec",
        "On garde le papier recyclé, sinon on a l'air ridicule à parler de mer propre. Je refais la couverture avec un vert foncé, ils auront le fichier demain soir.",
      ],
      [
        "Thibault Renan",
        "Dernier point, la soirée du jeudi. Le chef du restaurant demande le nombre d'allergiques aux crustacés. J'en compte quatre, dont moi, ce qui est un comble pour un Breton.",
      ],
    ],
  },
  {
    title: "Cofradía de Cambados: boyas para las bateas",
    language: "es",
    lines: [
      [
        "Xoana Rial",
        "Buenos días, Brais, buenos días, Remedios. Gracias por recibirnos en la lonja. Hoy quería hablar de dónde ponemos las boyas, de quién las cuida y de cómo lo pagamos.",
      ],
      [
        "Brais Outeiral",
        "Buenos días. Os cuento lo de este año, que ha sido malo. En septiembre la marea roja nos cerró el polígono cuarenta y un días. Eso son cuarenta y un días sin sacar un mejillón y con los camiones parados.",
      ],
      [
        "Remedios Lago",
        "Y nos enteramos siempre tarde. El instituto toma muestras los lunes y los jueves, y el resultado llega al día siguiente. Si la mancha entra un viernes, el fin de semana vendemos lo que luego hay que retirar.",
      ],
      [
        "Xoana Rial",
        "Con la boya tendríais la clorofila cada diez minutos. No distingue la especie, eso lo dice el laboratorio, pero avisa de que algo está subiendo. ¿Por dónde entra normalmente la mancha?",
      ],
      [
        "Brais Outeiral",
        "Por la boca sur, entre la isla y el faro, casi siempre con viento del norte. Yo pondría dos boyas allí y una tercera delante del muelle, que es donde se queda el agua dulce cuando llueve.",
      ],
      [
        "Remedios Lago",
        "Delante del muelle no, que atracan los barcos del pasaje y nos la llevan por delante. Mejor al lado de la batea de mi hermano, que está abandonada y tiene todavía los cabos buenos.",
      ],
      [
        "Xoana Rial",
        "Me parece bien, la ponemos al lado de esa batea. Ahora, el mantenimiento. Hay que limpiar el sensor cada dos semanas, porque con el calor le crecen algas y mide mal.",
      ],
      [
        "Brais Outeiral",
        "Eso lo puede hacer mi hija Uxía, que estudia biología en Vigo y viene todos los fines de semana. Pero hay que pagarle, que gratis ya trabaja para mí.",
      ],
      [
        "Remedios Lago",
        "La cofradía puede poner ochenta euros por limpieza. Lo que no podemos poner es el precio de las tres boyas de golpe, después del otoño que hemos tenido no hay dinero en la caja.",
      ],
      [
        "Xoana Rial",
        "Hay dos caminos. El alquiler, trescientos diez euros al mes por boya, con todo incluido. O la compra con la ayuda de la Xunta, que cubre el sesenta por ciento, pero hay que pedirla antes del quince de febrero.",
      ],
      [
        "Remedios Lago",
        "La ayuda, sin duda. El problema es que la Xunta paga cuando ya has pagado tú, y tardan ocho meses. ¿Quién nos adelanta el dinero mientras tanto?",
      ],
      [
        "Xoana Rial",
        "Podemos esperar al cobro. Lo he hablado con la dirección: nos pagáis vuestra parte a la entrega y el resto cuando llegue la subvención, sin intereses.",
      ],
      [
        "Brais Outeiral",
        "Así sí. Una cosa más, los avisos. Mis marineros no miran el correo. Si no suena el teléfono de noche, no se levanta nadie, y que hable en gallego, por favor.",
      ],
      [
        "Xoana Rial",
        "El aviso es una llamada, y la voz la podemos grabar en gallego. Si Uxía quiere, que la grabe ella, así sabéis que es de casa.",
      ],
    ],
  },
  {
    title: "Mudanza del taller",
    language: "es",
    lines: [
      [
        "Ignacio Ferrer",
        "Vamos al grano. El contrato de la nave termina en junio y el dueño no lo renueva, porque quiere hacer pisos. Tenemos que decidir adónde vamos.",
      ],
      [
        "Candela Ruiz",
        "He visitado cuatro locales. El de Paterna es el más barato, pero el techo tiene amianto y quitarlo nos costaría más que un año entero de alquiler.",
      ],
      ["Ignacio Ferrer", "Entonces Paterna queda fuera. ¿Y el de Sagunto, el que está junto al puerto?"],
      [
        "Candela Ruiz",
        "El de Sagunto es el que más me gusta. Tiene puente grúa de cinco toneladas y muelle de carga. Lo malo es que media plantilla vive en Torrent y tendría una hora de coche.",
      ],
      [
        "Víctor Almela",
        "Yo soy uno de esos. He preguntado a los demás: de los once, siete aceptarían si empezamos a las siete y media y salimos antes. Dos dicen que se buscan otra cosa.",
      ],
      [
        "Ignacio Ferrer",
        "Perder a dos sería duro, sobre todo si uno es Amparo. Sin ella no hay quien suelde el titanio. ¿Qué haría falta para que se quedara?",
      ],
      [
        "Víctor Almela",
        "Amparo cuida de su madre por las tardes. Si le dejáis hacer jornada continua y le pagáis la gasolina, se queda, me lo ha dicho esta mañana.",
      ],
      [
        "Candela Ruiz",
        "Eso está hecho. El traslado en sí lo calculo en nueve días. Las fresadoras las mueve una empresa de Bilbao, que pide doce mil euros con el seguro incluido.",
      ],
      [
        "Ignacio Ferrer",
        "¿Y los pedidos de esas semanas? A los de Cartagena les prometimos las bridas para San Juan.",
      ],
      [
        "Víctor Almela",
        "Las bridas las adelantamos. Si trabajamos dos sábados en mayo, salen antes de que se pare la primera máquina. Los sábados se pagan dobles, como siempre.",
      ],
      [
        "Candela Ruiz",
        "También hay que avisar a la compañía eléctrica, que tarda siete semanas en dar de alta la potencia. Lo pido mañana, porque el año pasado a los vecinos les dejaron a oscuras hasta Navidad.",
      ],
      [
        "Ignacio Ferrer",
        "Pues decidido: Sagunto, con jornada continua para quien la quiera. Candela firma el precontrato el lunes y yo hablo con Amparo hoy mismo.",
      ],
    ],
  },
  {
    title: "志摩の養殖組合との打ち合わせ",
    language: "ja",
    lines: [
      [
        "浜口 誠",
        "本日はお忙しいところありがとうございます。去年の夏、あこや貝がたくさん死んでしまいまして、組合としても今年は同じことを繰り返したくないんです。",
      ],
      [
        "津久井 直子",
        "被害はどのくらいだったのでしょうか。新聞では三割と書いてありましたが、現場の感覚ではいかがですか。",
      ],
      [
        "浜口 誠",
        "うちの湾では半分近くやられました。水温が二十九度を超えた日が十二日も続いて、夜になっても下がらなかった。気がついたときには、もう籠を沈める時間がありませんでした。",
      ],
      [
        "津久井 直子",
        "ブイがあれば、水温と酸素を十分ごとに測ってお知らせできます。問題は置く場所です。湾の入り口と奥では、水の入れ替わりがまったく違うと思います。",
      ],
      [
        "山際 千春",
        "奥のほうが先に悪くなります。特に川の河口の近くは、雨のあとに濁った水がたまりますから、まずあそこに一台ほしいです。",
      ],
      [
        "浜口 誠",
        "ただ、河口は流木が多いんです。台風のあとなんか、丸太がそのまま流れてきて、前に置いた国の観測機は一晩で壊れました。",
      ],
      [
        "津久井 直子",
        "それでしたら、河口から二百メートルほど離して、使っていない筏の内側につなぐのはどうでしょう。筏が盾になりますし、電波も届きます。",
      ],
      [
        "山際 千春",
        "いい考えですね。うちの古い筏が空いていますから、使ってください。掃除は誰がやりますか。貝が付くとすぐに数字がおかしくなると聞きました。",
      ],
      [
        "浜口 誠",
        "水産高校の生徒に頼もうと思っています。先生が授業の一環にしたいと言ってくれました。月に二回、土曜日の午前中です。",
      ],
      [
        "津久井 直子",
        "素晴らしいですね。費用の話ですが、購入ですと一台百四十八万円、借りる場合は月に五万円です。県の補助金を使うなら、申し込みは六月の末までに出す必要があります。",
      ],
      [
        "浜口 誠",
        "最初の年は借りて様子を見たいです。若い人は賛成ですが、年寄りは機械を信用していません。一年やって役に立つとわかれば、みんな買うと言うでしょう。",
      ],
      [
        "山際 千春",
        "電話の音声だけは日本語にしてください。英語でかかってきたら、詐欺だと思って切ってしまいますよ。",
      ],
      [
        "津久井 直子",
        "承知しました。それでは三台を一年間お貸しする形で、来週の金曜日までに見積書をお送りします。",
      ],
    ],
  },
  {
    title: "東京事務所の引っ越しと採用",
    language: "ja",
    lines: [
      [
        "塚田 はな",
        "では始めます。今日は引っ越し先、新しい人の採用、それから年末の休みの三つを決めたいと思います。",
      ],
      [
        "小田切 亮",
        "引っ越し先ですが、品川の部屋は家賃が高すぎました。月に九十万円で、しかも倉庫がありません。蒲田なら同じ広さで半分ほど、一階に荷物の置ける場所も付いています。",
      ],
      [
        "塚田 はな",
        "蒲田は駅から歩いて何分ですか。お客様がいらっしゃることもあるので、あまり遠いと困ります。",
      ],
      [
        "小田切 亮",
        "七分です。ただし踏切があって、朝は十分近く開かないことがあります。それを除けば静かでいいところです。",
      ],
      [
        "望月 さくら",
        "私は蒲田に賛成です。浮かんだお金で修理の担当を一人増やせます。今は私が一人で全部直しているので、風邪もひけません。",
      ],
      [
        "塚田 はな",
        "では蒲田にしましょう。採用については、応募が三人来ています。一人は元船員の方で、機械に強いけれど、英語はまったくできないそうです。",
      ],
      [
        "小田切 亮",
        "英語は要りますか。説明書は全部日本語になりましたし、本社とのやりとりは塚田さんがしてくれています。それより船の上で酔わないことのほうが大事です。",
      ],
      [
        "望月 さくら",
        "本当にそうです。去年の研修生は、最初の日に港を出る前から青い顔をしていました。元船員の方にぜひ会ってみたいです。",
      ],
      [
        "塚田 はな",
        "わかりました。来週の水曜日に面接をします。最後に年末の休みですが、氷が張る前に北海道のブイを引き上げないといけません。",
      ],
      [
        "小田切 亮",
        "サロマ湖の四台ですね。例年どおりなら十二月の十日ごろに凍り始めます。私が五日から行ってきます。軽トラックを借りて、二日で終わるはずです。",
      ],
      [
        "望月 さくら",
        "それなら事務所は二十七日から一月の五日まで閉められます。留守の間の電話は、夜間と同じように本社の当番に回しておきます。",
      ],
    ],
  },
];

const smallTalk: Readonly<Record<string, readonly string[]>> = {
  en: [
    "Can everyone hear me all right, or should I switch to the other microphone?",
    "I think we decided that last time, but I would have to look it up in the notes.",
    "How much will it cost in the end, and who is going to pay for it this year?",
    "Let's come back to that next week, when the new person has had time to read it.",
    "The customer was happy with what they saw, but they want to know when it is ready.",
    "I'd rather do it properly once than have three people look at it again in a month.",
    "What happens if it doesn't work, and who do we call when it breaks at night?",
    "We have two options, and honestly I don't like either of them very much.",
    "It took us longer than we thought because nobody had told us about the change.",
    "Could you send me the figures before lunch, so that I can put them on the page?",
    "That part of the manual is fine, but the first page is still from the old version.",
    "Good, then I'll write to them today and let you all know what they say.",
  ],
  de: [
    "Könnt ihr mich alle gut hören, oder soll ich das andere Mikrofon nehmen?",
    "Ich glaube, das haben wir beim letzten Mal entschieden, aber ich müsste im Protokoll nachsehen.",
    "Wie viel kostet das am Ende, und wer bezahlt es in diesem Jahr?",
    "Darauf kommen wir nächste Woche zurück, wenn alle Zeit hatten, es zu lesen.",
    "Der Kunde war zufrieden mit dem, was er gesehen hat, aber er will wissen, wann es fertig ist.",
    "Was passiert, wenn es nicht funktioniert, und wen rufen wir an, wenn es nachts ausfällt?",
    "Warum hat das länger gedauert als gedacht? Weil uns niemand von der Änderung erzählt hat.",
    "Wir haben zwei Möglichkeiten, und ehrlich gesagt gefällt mir keine von beiden besonders.",
    "Kannst du mir die Zahlen vor dem Mittagessen schicken, damit ich sie eintragen kann?",
    "Im Winter machen wir das anders als im Sommer, das wissen eigentlich alle.",
    "Gut, dann schreibe ich ihnen heute noch und sage euch, was sie antworten.",
  ],
  fr: [
    "Est-ce que tout le monde m'entend bien, ou est-ce que je prends l'autre micro ?",
    "Je crois qu'on l'a décidé la dernière fois, mais il faudrait que je regarde dans le compte rendu.",
    "Combien est-ce que ça va coûter à la fin, et qui va payer cette année ?",
    "On en reparle la semaine prochaine, quand tout le monde aura eu le temps de le lire.",
    "Le client était content de ce qu'il a vu, mais il veut savoir quand ce sera prêt.",
    "Qu'est-ce qui se passe si ça ne marche pas, et qui est-ce qu'on appelle la nuit ?",
    "Pourquoi est-ce que ça a pris plus de temps que prévu ? Parce que personne ne nous a parlé du changement.",
    "On a deux possibilités et, franchement, aucune des deux ne me plaît beaucoup.",
    "Tu peux m'envoyer les chiffres avant midi, pour que je les mette dans la présentation ?",
    "Comment va-t-on faire pour que toutes les pièces soient là au bon moment ?",
    "Bon, alors je leur écris aujourd'hui et je vous dis ce qu'ils répondent.",
  ],
  es: [
    "¿Me oís todos bien, o cojo el otro micrófono?",
    "Creo que eso lo decidimos la última vez, pero tendría que mirarlo en las notas.",
    "¿Cuánto va a costar al final, y quién lo va a pagar este año?",
    "De eso hablamos la semana que viene, cuando todos hayan tenido tiempo de leerlo.",
    "El cliente estaba contento con lo que vio, pero quiere saber cuándo estará listo.",
    "¿Qué pasa si no funciona, y a quién llamamos cuando se estropea por la noche?",
    "¿Por qué hemos tardado más de lo que pensábamos? Porque nadie nos dijo nada del cambio.",
    "Tenemos dos opciones y, la verdad, ninguna de las dos me gusta mucho.",
    "¿Me puedes mandar las cifras antes de comer, para que las ponga en la presentación?",
    "¿Dónde vamos a poner todo eso, si aquí ya no cabe nada más?",
    "Bueno, pues les escribo hoy y os digo lo que contestan.",
  ],
  ja: [
    "皆さん、私の声は聞こえていますか。別のマイクに替えたほうがいいでしょうか。",
    "それは前回決めたと思いますが、議事録を見てみないとわかりません。",
    "最終的にいくらかかるのか、そして今年は誰が払うのかを確認したいです。",
    "その話は来週にしましょう。それまでに皆さんに読んでおいてもらいます。",
    "お客様は満足してくださいましたが、いつできあがるのかを知りたいそうです。",
    "もしうまくいかなかったらどうなるのか、夜に止まったら誰に電話すればいいのでしょうか。",
    "どうして思ったより時間がかかったかというと、変更のことを誰も教えてくれなかったからです。",
    "方法は二つありますが、正直に言うと、どちらもあまり好きではありません。",
    "昼までに数字を送ってもらえますか。資料に入れておきたいので。",
    "どこに何を置くのか、図に書いてもらえると助かります。",
    "では今日中に連絡して、返事が来たら皆さんにお知らせします。",
  ],
};
