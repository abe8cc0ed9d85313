/** A question, and what the passages that answer it say. */
export interface KnownQuestion {
  readonly question: string;
  /** Each is in a line of one meeting; one of them is enough. */
  readonly answers: readonly string[];
}

/** As a user who missed the meeting asks: where possible, in other words than the speakers used. */
export const questions: Readonly<Record<string, readonly KnownQuestion[]>> = {
  en: [
    {
      question: "Why was the release of the new buoy postponed?",
      answers: [
        "seven have water behind the wiper shaft",
        "because seven out of forty had water in them",
        "We found water in some of our test units",
        "because we found water in it before you did",
      ],
    },
    {
      question: "How many salmon died altogether because nobody was warned?",
      answers: ["We lost three hundred and forty in all", "Inga lost three hundred and forty fish"],
    },
    {
      question: "What was the cause of the outage during the night?",
      answers: ["The disk of the message broker filled up", "its disk was full"],
    },
    {
      question: "Which of the two applicants gets the job, and at what salary?",
      answers: ["offer to Inês Valadares, sixty-two", "Sixty-two it is"],
    },
    {
      question: "What did Marit and Inga agree on as compensation?",
      answers: ["Four months and the two buoys", "Four months' credit and two Heron 2"],
    },
    {
      question: "When does Rafael take his vacation and where is he going?",
      answers: ["After launch. Two weeks, my parents in Braga"],
    },
    {
      question: "For how long would our money last if nothing else came in?",
      answers: ["We have fourteen months at the present rate"],
    },
    {
      question: "Which instruction in the printed guide do people misunderstand?",
      answers: ["'Turn the ring until it clicks.' It doesn't click.", "She got stuck at step four"],
    },
    {
      question: "Is it dangerous to go rowing in the estuary after it has rained?",
      answers: ["After heavy rain, the sewers overflow", "After an overflow, I find bacteria"],
    },
    {
      question: "How will people who are colour-blind be able to read the public page?",
      answers: ["A circle, a triangle, a square with a cross", "our coach can't tell them apart"],
    },
    {
      question: "What was wrong with the piece of code that the candidate was shown in the interview?",
      answers: [
        "The count is calculated as head minus tail",
        "an index of sixteen bits is written in one go",
      ],
    },
    {
      question: "Who is phoned next if the engineer on call doesn't react?",
      answers: [
        "If I don't confirm within four minutes, it goes to Seun",
        "on to the next, and then to our head of engineering",
      ],
    },
  ],
  de: [
    {
      question: "Warum sollte man im Winter lieber die größere Boje nehmen?",
      answers: ["Die große wird angehoben, weil der Rumpf", "wegen des Eises"],
    },
    {
      question: "Was müssen die Stadtwerke für die Bojen insgesamt bezahlen?",
      answers: ["neununddreißigtausendeinhundert", "Die große kostet elftausendvierhundert"],
    },
    {
      question: "Ab welcher Summe ist eine Ausschreibung vorgeschrieben?",
      answers: ["Ab vierzigtausend muss ich ausschreiben"],
    },
    {
      question: "Wo werden die gemessenen Daten gespeichert?",
      answers: ["In zwei Rechenzentren in der EU"],
    },
    {
      question: "Wie lange gibt der Hersteller Garantie, falls die Dichtung nicht hält?",
      answers: ["Drei, auf Gehäuse und Dichtung sogar fünf"],
    },
    {
      question: "Hat man an der Staumauer überhaupt Handyempfang?",
      answers: ["Wir haben an der Mauer einen Balken", "einen Messkoffer schicken"],
    },
    {
      question: "Weshalb kamen damals stundenlang keine Alarme an?",
      answers: ["Die Festplatte eines Servers war voll"],
    },
    {
      question: "Bis wann sagt der Einkauf, ob bestellt wird?",
      answers: ["Die Antwort haben Sie in zehn Tagen", "ich sage Ihnen in zehn Tagen"],
    },
    {
      question: "Woher kam das Wasser im Keller?",
      answers: ["der Schlauch der Spülmaschine geplatzt"],
    },
    {
      question: "Welchen Wagen schaffen wir uns an, Diesel oder elektrisch?",
      answers: ["wir leasen den elektrischen", "Ich bin für den elektrischen"],
    },
    {
      question: "Wer hat im August wann Urlaub?",
      answers: ["Ich bin in den ersten beiden Wochen in Dänemark", "Ich nehme die letzten beiden"],
    },
    {
      question: "Wann schaut sich die Versicherung den Schaden an?",
      answers: ["Den Gutachter von der Versicherung habe ich bestellt"],
    },
  ],
  fr: [
    {
      question: "Pourquoi les flasques de la deuxième série étaient-elles trop profondes ?",
      answers: ["On a changé la plaquette du tour", "La dérive commence après, quand la machine chauffe"],
    },
    {
      question: "Quand recevrons-nous toutes les pièces commandées à Yannick ?",
      answers: ["vos cent vingt dans dix-huit jours", "Cent vingt dans dix-huit jours"],
    },
    {
      question: "Quel est le supplément pour une anodisation rapide ?",
      answers: ["Ça coûte cent quatre-vingts euros de plus", "c'est le prix de deux minutes de retard"],
    },
    {
      question: "Comment se partage-t-on les frais du mauvais lot ?",
      answers: ["Soixante-cinq, trente-cinq, et vous payez la gravure", "D'accord pour soixante-cinq"],
    },
    {
      question: "À quel endroit de la pièce met-on le numéro de série ?",
      answers: ["Sur la face extérieure, à côté du trou de purge"],
    },
    {
      question: "À partir de quelle cote une pièce est-elle refusée au contrôle ?",
      answers: ["rejette au-dessus de deux quarante-trois", "rejet au-dessus de deux quarante-trois"],
    },
    {
      question: "Qui travaillera sur la grande machine, et à quel rythme ?",
      answers: ["Je mets Maël sur le grand tour en deux équipes", "Quinze par jour, en serrant les dents"],
    },
    {
      question: "Qu'est-ce qui pourrait encore nous retarder chez le fournisseur ?",
      answers: ["L'anodisation. Ce n'est pas chez nous"],
    },
    {
      question: "Pourquoi n'avons-nous plus le même emplacement au salon ?",
      answers: ["on a perdu l'angle près de l'entrée"],
    },
    {
      question: "Quelles mesures de sécurité le port exige-t-il pour le bassin ?",
      answers: ["Il faut une clôture d'un mètre dix"],
    },
    {
      question: "Où allons-nous loger pendant le salon ?",
      answers: ["une grande maison à Larmor-Plage"],
    },
    {
      question: "De quelle couleur sera finalement la brochure ?",
      answers: ["Je refais la couverture avec un vert foncé", "le bleu sort violet sur le papier recyclé"],
    },
  ],
  es: [
    {
      question: "¿Cuánto tiempo estuvo prohibida la venta de mejillones por la marea roja?",
      answers: ["nos cerró el polígono cuarenta y un días"],
    },
    {
      question: "¿Por qué los análisis del instituto no bastan?",
      answers: ["El instituto toma muestras los lunes y los jueves"],
    },
    {
      question: "¿En qué sitio se colocará la tercera boya?",
      answers: ["Mejor al lado de la batea de mi hermano", "la ponemos al lado de esa batea"],
    },
    {
      question: "¿Quién se encargará de limpiar los sensores?",
      answers: ["Eso lo puede hacer mi hija Uxía"],
    },
    {
      question: "¿Hasta qué fecha se puede solicitar la subvención de la Xunta?",
      answers: ["hay que pedirla antes del quince de febrero"],
    },
    {
      question: "¿Qué hacemos si la ayuda pública tarda en llegar?",
      answers: ["Podemos esperar al cobro", "la Xunta paga cuando ya has pagado tú"],
    },
    {
      question: "¿En qué idioma tienen que ser las alertas para los marineros?",
      answers: ["que hable en gallego, por favor", "la voz la podemos grabar en gallego"],
    },
    {
      question: "¿Por qué tenemos que dejar la nave actual?",
      answers: ["El contrato de la nave termina en junio"],
    },
    {
      question: "¿Qué problema tenía el local más barato?",
      answers: ["el techo tiene amianto"],
    },
    {
      question: "¿Bajo qué condiciones seguiría Amparo con nosotros?",
      answers: ["Si le dejáis hacer jornada continua y le pagáis la gasolina"],
    },
    {
      question: "¿Cuánto nos cobran por transportar las máquinas?",
      answers: ["que pide doce mil euros con el seguro incluido"],
    },
    {
      question: "¿Cómo vamos a cumplir con el pedido de Cartagena?",
      answers: ["Las bridas las adelantamos", "les prometimos las bridas para San Juan"],
    },
  ],
  ja: [
    {
      question: "去年の夏に貝が死んだ原因は何でしたか？",
      answers: ["水温が二十九度を超えた日が十二日も続いて", "去年の夏、あこや貝がたくさん死んで"],
    },
    {
      question: "ブイはどこに設置することになりましたか？",
      answers: ["使っていない筏の内側につなぐ", "うちの古い筏が空いています", "問題は置く場所です"],
    },
    {
      question: "前に国が置いた装置はなぜ壊れたのですか？",
      answers: ["前に置いた国の観測機は一晩で壊れました"],
    },
    {
      question: "センサーの清掃は誰が担当しますか？",
      answers: ["水産高校の生徒に頼もう", "掃除は誰がやりますか"],
    },
    {
      question: "補助金の締め切りはいつですか？",
      answers: ["申し込みは六月の末までに出す"],
    },
    {
      question: "組合は初年度にブイを買うのですか、それとも借りるのですか？",
      answers: ["最初の年は借りて様子を見たい"],
    },
    {
      question: "警報の電話は何語で話すべきですか？",
      answers: ["電話の音声だけは日本語にしてください"],
    },
    {
      question: "新しい事務所を蒲田にした理由は？",
      answers: ["蒲田なら同じ広さで半分ほど", "浮かんだお金で修理の担当を一人増やせます"],
    },
    {
      question: "新しい事務所は駅からどのくらい離れていますか？",
      answers: ["七分です。ただし踏切があって", "蒲田は駅から歩いて何分ですか"],
    },
    {
      question: "応募した人に英語の能力は必要ですか？",
      answers: ["英語は要りますか", "英語はまったくできないそうです"],
    },
    {
      question: "北海道には誰がいつ行きますか？",
      answers: ["私が五日から行ってきます", "氷が張る前に北海道のブイを引き上げ"],
    },
    {
      question: "事務所は年末いつからいつまで休みですか？",
      answers: ["事務所は二十七日から一月の五日まで閉められます"],
    },
  ],
};
