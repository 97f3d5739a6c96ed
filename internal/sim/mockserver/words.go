package mockserver

import "strings"

// words are the pieces of every answer: " word". Each is one token of o200k_base. Because every piece begins with a space and continues in lower-case
// letters, two pieces never merge: n pieces in a row are n tokens. A test proves both.
var words = pieces(`
the of and to in is for that with on as it at by from this be are or an was not have which will can all
more has one about when their there been who also other into only some time could these two may then do first any
my now such like our over even most after made many before must through back years where much way well down should because each just
people how too little state good very make world still own see men work long get here between both life being under never day same another
know while last might us great old year off come since against go came right used take three states himself few house use during without again
place around however home small found thought went say part once general high upon school every don does got united left number course war until always
away something fact water less public put think almost hand enough far took head yet government system better set told nothing night end why called
river mountain green light music paper table window garden silver simple market letter summer winter morning evening forest ocean bridge stone
energy method result theory example problem science history language culture design process memory signal network engine model data value
`)

func pieces(list string) []string {
	out := strings.Fields(list)
	for i, w := range out {
		out[i] = " " + w
	}
	return out
}
